"""What ``feature_tree`` costs: two real pages of about 1,000 elements, read and matched, beside their parsing.

Pages of one site are taken in pairs: the page that is judged, and the one it is compared with. ``build_target``
makes feature nodes of both, ``match`` fills the table and goes back through it, ``judge`` is all that the method
does with a page whose site has as many reference pages as the method keeps. CPU time, the median of some repeats;
the ratios are to lxml's parse of the two pages, medians of each pair's own ratio.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import NamedTuple, TypeAlias

from benchmarks.bench import addressed, folder_with, options, parse_with_lxml, say, table, write_figures
from denoise_crawler.evaluation import by_site, read_gold
from denoise_crawler.methods.feature_tree.matching import match, to_420ths
from denoise_crawler.methods.feature_tree.method import REFERENCES, FeatureTreeMatching
from denoise_crawler.methods.feature_tree.nodes import build_target
from denoise_crawler.page import Page
from denoise_crawler.page.text import hash64

Times: TypeAlias = dict[str, float]  # nanoseconds by stage

SETS = ("christianbook", "dragnet")
READ_AT_MOST = 500  # christianbook has 2,000 pages
ELEMENTS = range(800, 1_251)
PARSE = "lxml parse, both pages"
STAGES = (
    PARSE,
    "page.nodes, both pages",
    "read, both pages",
    "match",
    "nodes + read + match",
    "judge (nodes + all)",
)


class Pair(NamedTuple):
    """Two pages of one site, and others of it."""

    target: Page
    similar: Page
    others: list[Page]


def cpu(run: Callable[[], object], repeats: int) -> float:
    """Return the median CPU nanoseconds of some runs."""
    found = []
    for _ in range(repeats):
        start = process_time_ns()
        run()
        found.append(process_time_ns() - start)
    return median(found)


def pairs(folder: Path, name: str, count: int) -> list[Pair]:
    """Return a fixed sample of pairs of a set's pages with about 1,000 elements."""
    sites = by_site(islice(read_gold(folder, name), READ_AT_MOST), at_least=2)
    found: list[Pair] = []
    for site in sorted(sites, key=hash64):
        pages = [Page.parse(*pair) for pair in sorted(addressed(sites[site]), key=lambda pair: hash64(pair[0]))]
        fitting = [page for page in pages if elements(page) in ELEMENTS]
        found += [Pair(first, second, pages) for first, second in _twos(fitting)]
        if len(found) >= count:
            break
    return found[:count]


def _twos(pages: list[Page]) -> Iterator[tuple[Page, Page]]:
    return zip(pages[::2], pages[1::2], strict=False)


def elements(page: Page) -> int:
    """Return the number of elements among the page's nodes."""
    return len(page.nodes) - sum(map(bool, page.nodes.texts))


def measure(pair: Pair, repeats: int) -> Times:
    """Time all stages on one pair."""
    both = (pair.target, pair.similar)
    encoded = [page.markup.encode() for page in both]
    method = FeatureTreeMatching()
    for page in pair.others[: REFERENCES + 1]:
        method.observe(page)
    threshold = to_420ths(method.similarity_threshold)
    target, similar = (build_target(page).tree for page in both)
    times = {
        PARSE: cpu(lambda: [parse_with_lxml(source) for source in encoded], repeats),
        STAGES[1]: cpu(lambda: [_fresh(page).nodes for page in both], repeats),
        STAGES[2]: cpu(lambda: [build_target(page) for page in both], repeats),
        STAGES[3]: cpu(lambda: match(target, similar, threshold), repeats),
        STAGES[5]: cpu(lambda: method.judge(_fresh(pair.target)), repeats),
    }
    return times | {STAGES[4]: sum(times[stage] for stage in STAGES[1:4])}


def _fresh(page: Page) -> Page:
    """Return ``page`` parsed, its nodes not yet made."""
    return Page(page.url, page.root, site=page.site, source=page.markup)


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--pairs", type=int, default=20, metavar="N", help="take N pairs of each set (20)")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="the median of N runs counts (5)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    arguments = _arguments(argv)
    folder = folder_with(SETS)
    by_set: dict[str, list[Times]] = {}
    for name in SETS:
        found = pairs(folder, name, arguments.pairs)
        say(f"{name}: {len(found)} pairs of pages with {ELEMENTS.start} to {ELEMENTS.stop - 1:,} elements")
        by_set[name] = [measure(pair, arguments.repeats) for pair in found]
    by_set["both"] = [times for found in by_set.values() for times in found]
    heads = ["stage", *(f"{name} {column}" for name in by_set for column in ("ms", "x parse"))]
    figures = {name: {stage: _figures(stage, found) for stage in STAGES} for name, found in by_set.items()}
    rows = [[stage, *(f"{value:.2f}" for name in by_set for value in figures[name][stage])] for stage in STAGES]
    print(table(heads, rows))
    write_figures(arguments.json, {"pairs": {name: len(found) for name, found in by_set.items()}} | figures)


def _figures(stage: str, found: list[Times]) -> tuple[float, float]:
    """Return the milliseconds of ``stage`` and its ratio to parsing, as medians over the pairs."""
    if not found:
        return 0.0, 0.0
    return median(times[stage] for times in found) / 1e6, median(times[stage] / times[PARSE] for times in found)


if __name__ == "__main__":
    main()
