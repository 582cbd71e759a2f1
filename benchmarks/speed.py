"""What each stage costs on a page: CPU milliseconds, and as ratios to lxml's parse of the same page.

The pages are a fixed sample of the sites with ten pages or more. Every stage runs on the same pages in the same
process, on a tree that knows their site (at most 128 pages of it). The best of some repeats counts, save for
learning and what follows from it, which happen once. Milliseconds are this machine's; the ratios are medians
of each page's own ratio.
"""

from __future__ import annotations

from itertools import islice
from statistics import median
from time import process_time_ns
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import trafilatura
from lxml import etree
from resiliparse.extract.html2text import extract_plain_text

from benchmarks.bench import addressed, folder_with, options, say, table, write_figures
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation.gold import by_site, read_gold
from denoise_crawler.methods.style_tree import StyleTree
from denoise_crawler.output.text import clean_text
from denoise_crawler.page import Page
from denoise_crawler.site_style_tree.tree import MAX_PAGES
from denoise_crawler.text import hash64

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from pathlib import Path

Times: TypeAlias = dict[str, int]  # nanoseconds by stage

SETS = ("daniel", "dragnet", "christianbook")
READ_AT_MOST = 700  # of christianbook's 2,000 pages more than one tree's sample is not needed
PARSE = "lxml parse alone"
LEARN, REFRESH = "learn (a page of the sample)", "importances after it"
STAGES = {
    PARSE: "etree.fromstring",
    "parse": "Page.parse",
    "nodes": "page.nodes",
    LEARN: "denoiser.learn",
    REFRESH: "tree.refresh",
    "judge, style_tree": "method.judge",
    "judge, link_ratio": "method.judge",
    "text": "clean_text",
    "whole road, style_tree": "Page.parse, denoiser.clean",
    "whole road, link_ratio": "Page.parse, denoiser.clean",
    "trafilatura": "extract",
    "resiliparse": "extract_plain_text",
}


class Source(NamedTuple):
    """A page as it is given to every stage."""

    url: str
    html: str


def cpu(run: Callable[[], object], repeats: int) -> int:
    """Return the CPU nanoseconds of the fastest of some runs."""
    found = []
    for _ in range(repeats):
        start = process_time_ns()
        run()
        found.append(process_time_ns() - start)
    return min(found)


def sample(folder: Path, name: str, count: int) -> tuple[list[Source], list[Source]]:
    """Return a fixed sample of a set's pages, and other pages to learn their sites from."""
    sites = by_site(islice(read_gold(folder, name), READ_AT_MOST), at_least=10)
    by_hash = {
        site: sorted((Source(*pair) for pair in addressed(found)), key=lambda page: hash64(page.url))
        for site, found in sites.items()
    }
    pages = sorted((page for found in by_hash.values() for page in found), key=lambda page: hash64(page.url))
    chosen = set(pages[:count])
    others = [
        page
        for found in by_hash.values()
        for page in [page for page in found if page not in chosen][: MAX_PAGES - count]
    ]
    return sorted(chosen), others


def learned(denoiser: Denoiser, source: Source) -> Times:
    """Time a page on its way into the tree, and what it makes the tree compute anew."""
    page = Page.parse(*source)
    assert page.skipped is None  # noqa: S101 - and so its nodes are made, which is another stage
    method = tree_of(denoiser, page)
    method.tree.refresh()
    assert not method.knows(page)  # noqa: S101
    times = {LEARN: cpu(lambda: denoiser.learn(page), 1)}
    return times | {REFRESH: cpu(method.tree.refresh, 1)}


def tree_of(denoiser: Denoiser, page: Page) -> StyleTree:
    """Return the method that knows the site of ``page``."""
    method = denoiser.method_for(page.site)
    assert isinstance(method, StyleTree)  # noqa: S101
    return method


def timed(style_tree: Denoiser, link_ratio: Denoiser, source: Source, repeats: int) -> Times:
    """Time all stages that can be repeated on one page whose site is learned."""
    encoded = source.html.encode()
    page = Page.parse(*source)
    noise = style_tree.judge(page).noise  # brings the tree up to date as well
    stages: dict[str, Callable[[], object]] = {
        PARSE: lambda: etree.fromstring(encoded, etree.HTMLParser(encoding="utf-8", huge_tree=True)),
        "parse": lambda: Page.parse(*source),
        "nodes": lambda: Page(page.url, page.root, source=source.html).nodes,
        "judge, style_tree": lambda: style_tree.judge(page),
        "judge, link_ratio": lambda: link_ratio.judge(page),
        "text": lambda: clean_text(page, noise),
        "whole road, style_tree": lambda: style_tree.clean(Page.parse(*source)),
        "whole road, link_ratio": lambda: link_ratio.clean(Page.parse(*source)),
        "trafilatura": lambda: trafilatura.extract(source.html, include_comments=False),
        "resiliparse": lambda: extract_plain_text(source.html, main_content=True),
    }
    return {stage: cpu(run, repeats) for stage, run in stages.items()}


def measure(folder: Path, name: str, count: int, repeats: int) -> list[Times]:
    """Return the times of each sampled page of a set."""
    chosen, others = sample(folder, name, count)
    say(f"{name}: {len(chosen)} pages; {len(others)} others of their sites are learned first")
    style_tree, link_ratio = Denoiser("style_tree"), Denoiser("link_ratio")
    for source in others:
        style_tree.learn(Page.parse(*source))
    first = [learned(style_tree, source) for source in chosen]
    return [
        once | timed(style_tree, link_ratio, source, repeats) for once, source in zip(first, chosen, strict=True)
    ]


def ratio(stage: str, pages: list[Times]) -> float:
    """Return the median over ``pages`` of what ``stage`` takes in terms of lxml's parse."""
    return median(page[stage] / page[PARSE] for page in pages)


def milliseconds(stage: str, pages: list[Times]) -> float:
    """Return the median over ``pages``."""
    return median(page[stage] for page in pages) / 1e6


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--pages", type=int, default=30, metavar="N", help="take N pages of each set (30)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="the best of N runs counts (3)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    arguments = _arguments(argv)
    folder = folder_with(SETS)
    by_set = {name: measure(folder, name, arguments.pages, arguments.repeats) for name in SETS}
    pages = [page for found in by_set.values() for page in found]
    rows = [
        [stage, call, f"{milliseconds(stage, pages):.2f}", f"{ratio(stage, pages):.2f}"]
        + [f"{ratio(stage, found):.2f}" for found in by_set.values()]
        for stage, call in STAGES.items()
    ]
    print(f"{len(pages)} pages: CPU ms and ratios to lxml's parse, medians\n")
    print(table(["stage", "call", "ms", "x lxml parse", *(f"x, {name}" for name in by_set)], rows))
    figures = {
        name: {stage: {"ms": milliseconds(stage, found), "ratio": ratio(stage, found)} for stage in STAGES}
        for name, found in {"all": pages, **by_set}.items()
    }
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
