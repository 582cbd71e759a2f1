"""What each stage costs on a page: CPU milliseconds, and as ratios to lxml's parse of the same page.

The pages are a fixed sample of the sites with ten pages or more; their sites are learned first, from 100 other
pages at most. Every stage runs on the same pages in the same process, and the fastest of some repeats counts.
Milliseconds are this machine's; the ratios are medians of each page's own ratio. A third of the pages is below
20 KB, as far as the sets have such pages.

A page that is measured again and again is in the caches of the processor; in a crawl it is not. So the road of a
page that is not wanted is measured once more, all pages in turn, as is the parse that it is compared with.

The whole road is what a page costs from its bytes to its clean item: parsed, learned (or found not to be wanted,
as most pages of a large site), judged, written, its metadata read. In a crawl the spider's tree is there already,
and what the add-on costs a page that is not wanted is the rest.
"""

from argparse import Namespace
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import NamedTuple, TypeAlias

import numpy as np
import trafilatura
from parsel import Selector
from resiliparse.extract.html2text import extract_plain_text

from benchmarks.bench import folder_with, options, parse_with_lxml, say, table, write_figures
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import addressed, by_site, read_gold
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from denoise_crawler.page.metadata import metadata_of
from denoise_crawler.page.text import hash64

Times: TypeAlias = dict[str, int]  # nanoseconds by stage
Ready: TypeAlias = "Callable[[], Callable[[], object]]"

SETS = ("daniel", "dragnet", "sites", "christianbook")
CHINESE = "daniel, Chinese"
SMALL, SMALL_BYTES = "below 20 KB", 20_000
READ_AT_MOST = 700  # of christianbook's 2,000 pages more than one site's sample is not needed
LINK_RATIO, ONE_LOOK = Denoiser("link_ratio"), Denoiser("one_look")
OTHERS = 100  # pages of a site that are known, so that one more is wanted
PARSE, TRAFILATURA, RESILIPARSE = "lxml parse alone", "trafilatura", "resiliparse"
ROAD, CRAWL = "whole road, page learned", "the same, the spider's tree given"
WARM = "whole road, page not wanted"
ALONE = "whole road, one_look"
IN_TURN, PARSE_IN_TURN = "whole road, page not wanted, pages in turn", "lxml parse, pages in turn"
PEERS = (TRAFILATURA, RESILIPARSE)
CALLS = {
    PARSE: "etree.fromstring",
    "nodes": "page.nodes",
    "blocks": "blocks_of",
    "learn": "denoiser.learn",
    "judge": "denoiser.judge",
    "text": "clean_text",
    "metadata": "metadata_of",
    ROAD: "Page.parse, learn, clean",
    WARM: "Page.parse, learn, clean",
    CRAWL: "Page, learn, clean",
    ALONE: "Page.parse, clean",
    "whole road, style_tree": "Page.parse, learn, clean",
    "whole road, link_ratio": "Page.parse, clean",
    TRAFILATURA: "extract",
    "trafilatura, fast": "extract(fast=True)",
    RESILIPARSE: "extract_plain_text",
    PARSE_IN_TURN: "etree.fromstring",
    IN_TURN: "Page.parse, learn, clean",
}


class Source(NamedTuple):
    """A page as it is given to every stage."""

    site: str
    url: str
    html: str
    chinese: bool

    @property
    def is_small(self) -> bool:
        """Whether the page is below 20 KB."""
        return len(self.html.encode("utf-8", "replace")) < SMALL_BYTES


class Known(NamedTuple):
    """What the other pages of a site taught ``fusion``, as bytes, and a denoiser that knows them for good."""

    fusion: bytes
    style_tree: Denoiser

    def denoiser(self, site: str) -> Denoiser:
        """Return a denoiser that knows the site by ``fusion``."""
        denoiser = Denoiser("fusion", knowledge=InMemoryKnowledge({site: self.fusion}))
        denoiser.method_for(site)
        return denoiser


def cpu(ready: Ready, repeats: int) -> int:
    """Return the CPU nanoseconds of the fastest of some runs, each made ready before."""
    found = []
    for _ in range(repeats):
        run = ready()
        start = process_time_ns()
        run()
        found.append(process_time_ns() - start)
    return min(found)


def sample(folder: Path, name: str, size: int) -> tuple[list[Source], dict[str, Known]]:
    """Return a fixed sample of a set's pages, and what is known of their sites from other pages."""
    sites: dict[str, list[Source]] = {}
    for site, gold in by_site(islice(read_gold(folder, name), READ_AT_MOST), at_least=10).items():
        sites[site] = [
            Source(site, *pair, (page.language or "").startswith("zh"))
            for pair, page in zip(addressed(gold), gold, strict=True)
        ]
    every = [page for found in sites.values() for page in found]
    every.sort(key=lambda page: hash64(page.url))
    small = [page for page in every if page.is_small][: size // 2]  # one set has none
    chosen = {*small, *[page for page in every if not page.is_small][: size - len(small)]}
    say(f"{name}: {len(chosen)} pages; other pages of their sites are learned first")
    of_sites = {page.site for page in chosen}
    known = {site: learn_pages([page for page in sites[site] if page not in chosen][:OTHERS]) for site in of_sites}
    return sorted(chosen), known


def learn_pages(pages: list[Source]) -> Known:
    """Return what ``pages`` of one site teach."""
    knowledge, style_tree = InMemoryKnowledge(), Denoiser("style_tree")
    fusion = Denoiser("fusion", knowledge=knowledge)
    for source in pages:
        page = Page.parse(source.url, source.html, site=source.site)
        fusion.learn(page)
        style_tree.learn(page)
    fusion.save()
    return Known(next(iter(knowledge.values()), b""), style_tree)


def at_once(run: Callable[[], object]) -> Ready:
    """Return a stage that needs nothing made ready."""
    return lambda: run


def walk(denoiser: Denoiser, make: Callable[[], Page]) -> None:
    """Take a page the whole road."""
    one = make()
    denoiser.learn(one)
    denoiser.clean(one)


def knowing(known: Known, make: Callable[[], Page]) -> Denoiser:
    """Return a denoiser that knows the site of a page, and has seen the page."""
    page = make()
    denoiser = known.denoiser(page.site)
    denoiser.learn(page)
    denoiser.judge(make())
    return denoiser


def in_turn(sources: list[Source], known: dict[str, Known], repeats: int) -> dict[Source, Times]:
    """Return what parse and road of each page take, when all pages are taken one after the other."""

    def make(source: Source) -> Page:
        return Page.parse(source.url, source.html, site=source.site)

    found: dict[Source, Times] = {source: {} for source in sources}
    roads = [knowing(known[source.site], partial(make, source)) for source in sources]
    for _ in range(repeats):
        for source, denoiser in zip(sources, roads, strict=True):
            runs: dict[str, Callable[[], object]] = {
                PARSE_IN_TURN: partial(parse_with_lxml, source.html.encode("utf-8", "replace")),
                IN_TURN: partial(walk, denoiser, partial(make, source)),
            }
            for stage, run in runs.items():
                took = cpu(at_once(run), 1)
                found[source][stage] = min(took, found[source].get(stage, took))
    return found


def stages(known: Known, source: Source) -> dict[str, Ready]:
    """Return all stages of one page whose site is known."""
    site, url, html, encoded = source.site, source.url, source.html, source.html.encode()
    page = Page.parse(url, html, site=site)
    noise = known.denoiser(site).judge(page).noise

    unparsed = partial(Page.parse, url, html, site=site)
    parsed = partial(Page, url, page.root, site=site, source=html)
    given = partial(Page, url, Selector(html, type="html").root, site=site, source=html)

    def cut() -> Page:
        one = parsed()
        one.once(blocks_of)
        return one

    def read() -> Page:
        one = parsed()
        len(one.nodes)
        return one

    def not_wanted(make: Callable[[], Page]) -> Callable[[], object]:
        return partial(walk, knowing(known, cut), make)

    return {
        PARSE: at_once(lambda: parse_with_lxml(encoded)),
        "nodes": at_once(lambda: parsed().nodes),
        "blocks": at_once(lambda: blocks_of(page)),
        "learn": lambda: partial(known.denoiser(site).learn, cut()),
        "judge": lambda: partial(known.denoiser(site).judge, cut()),
        "text": at_once(lambda: clean_text(page, noise)),
        "metadata": lambda: partial(metadata_of, read()),
        ROAD: lambda: partial(walk, known.denoiser(site), unparsed),
        WARM: partial(not_wanted, unparsed),
        CRAWL: partial(not_wanted, given),
        ALONE: at_once(lambda: ONE_LOOK.clean(unparsed())),
        "whole road, style_tree": at_once(lambda: walk(known.style_tree, unparsed)),
        "whole road, link_ratio": at_once(lambda: walk(LINK_RATIO, unparsed)),
        TRAFILATURA: at_once(lambda: trafilatura.extract(html, include_comments=False)),
        "trafilatura, fast": at_once(lambda: trafilatura.extract(html, include_comments=False, fast=True)),
        RESILIPARSE: at_once(lambda: extract_plain_text(html, main_content=True)),
    }


def measure(folder: Path, name: str, size: int, repeats: int) -> dict[Source, Times]:
    """Return the times of each sampled page of a set."""
    chosen, known = sample(folder, name, size)
    turns = in_turn(chosen, known, repeats)
    return {
        source: {stage: cpu(ready, repeats) for stage, ready in stages(known[source.site], source).items()}
        | turns[source]
        for source in chosen
    }


def ratio(stage: str, to: str, pages: Iterable[Times]) -> float:
    """Return the median over ``pages`` of what ``stage`` takes in terms of another; in turn if it is."""
    if stage == IN_TURN and to == PARSE:
        to = PARSE_IN_TURN
    return median(page[stage] / page[to] for page in pages)


def milliseconds(stage: str, pages: Iterable[Times]) -> float:
    """Return the median over ``pages``."""
    return median(page[stage] for page in pages) / 1e6


def line_through(stage: str, pages: Iterable[Times]) -> tuple[float, float]:
    """Return the milliseconds that any page costs, and the parses of it that each costs: least squares."""
    slope, fixed = np.polyfit(*zip(*((page[PARSE], page[stage]) for page in pages), strict=True), 1)
    return float(fixed) / 1e6, float(slope)


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--pages", type=int, default=30, metavar="N", help="take N pages of each set (30)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="the best of N runs counts (3)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    folder = folder_with(SETS)
    by_set = {name: measure(folder, name, arguments.pages, arguments.repeats) for name in SETS}
    groups = {name: list(found.values()) for name, found in by_set.items()}
    groups[CHINESE] = [times for found in by_set.values() for source, times in found.items() if source.chinese]
    groups[SMALL] = [times for found in by_set.values() for source, times in found.items() if source.is_small]
    groups = {name: found for name, found in groups.items() if found}
    every = [times for found in by_set.values() for times in found.values()]
    rows = [
        [stage, call, f"{milliseconds(stage, every):.2f}", f"{ratio(stage, PARSE, every):.2f}"]
        + [f"{ratio(stage, PARSE, found):.2f}" for found in groups.values()]
        for stage, call in CALLS.items()
    ]
    print(
        f"{len(every)} pages, {len(groups.get(SMALL, []))} of them {SMALL}: "
        "CPU ms and ratios to lxml's parse, medians\n"
    )
    print(table(["stage", "call", "ms", "x lxml parse", *(f"x, {name}" for name in groups)], rows))
    rows = [
        [road, *(f"{ratio(road, to, found):.2f}" for to in PEERS for found in (every, *groups.values()))]
        for road in (ROAD, WARM, IN_TURN, CRAWL, ALONE)
    ]
    heads = [f"x {to}, {name}" for to in PEERS for name in ("all", *groups)]
    print(f"\n{table(['beside peers', *heads], rows)}")
    fixed, slope = line_through(WARM, every)
    print(f"\nThe line through all pages: one that is not wanted costs {fixed:.2f} ms and {slope:.2f} parses.")
    figures = {
        name: {
            stage: {"ms": milliseconds(stage, found), "ratio": ratio(stage, PARSE, found)}
            | {to: ratio(stage, to, found) for to in PEERS}
            for stage in CALLS
        }
        for name, found in {"all": every, **groups}.items()
    }
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
