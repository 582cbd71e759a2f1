"""What a large site costs: 2,000 product pages of one shop, learned and cleaned one after the other.

A site style tree keeps a sample of at most 128 pages: those with the lowest hash of their address. So the bytes
of the tree stop growing once it has 128 pages, and of the n-th page after that one in n / 128 is still learned:
the seconds for learning, and for bringing the importances up to date before a page is judged, fall with n until
only parsing and judging are left.

Each road runs in a process of its own, so that its peak memory is its own. Seconds are CPU seconds without
those of reading the corpus; read them as ratios to what lxml needs to parse the same pages.
"""

from __future__ import annotations

import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from multiprocessing import get_context
from time import process_time
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from lxml import etree

from benchmarks.bench import folder_with, options, say, table, write_figures
from denoise_crawler import denoise_pages
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation.gold import read_gold
from denoise_crawler.methods.style_tree import StyleTree
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator
    from pathlib import Path

P = ParamSpec("P")
T = TypeVar("T")
SET = "christianbook"
MIB = 1 << 20


@dataclass
class Step:
    """What some pages cost, and what stood there after them."""

    pages: int = 0
    learn_seconds: float = 0.0
    clean_seconds: float = 0.0
    pages_in_tree: int = 0
    tree_bytes: int = 0
    peak_bytes: int = 0


class Corpus:
    """The pages as a stream of (url, html); ``seconds`` is the CPU time that reading them took so far."""

    def __init__(self, folder: Path, count: int) -> None:
        self._pages = islice(read_gold(folder, SET), count)
        self.seconds = 0.0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        while True:
            start = process_time()
            page = next(self._pages, None)
            self.seconds += process_time() - start
            if page is None:
                return
            yield page.address, page.html


def peak_bytes() -> int:
    """Return the most memory this process ever held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def parse_alone(folder: Path, count: int) -> Step:
    """Let lxml parse the pages and nothing else."""
    step = Step()
    for _, html in Corpus(folder, count):
        source = html.encode()
        start = process_time()
        etree.fromstring(source, etree.HTMLParser(encoding="utf-8", huge_tree=True))
        step.clean_seconds += process_time() - start
        step.pages += 1
    step.peak_bytes = peak_bytes()
    return step


def stream(folder: Path, count: int) -> Step:
    """Run the pages through ``denoise_pages``."""
    corpus, start = Corpus(folder, count), process_time()
    pages = sum(1 for _ in denoise_pages(corpus, method="style_tree"))
    seconds = process_time() - start - corpus.seconds
    return Step(pages, clean_seconds=seconds, peak_bytes=peak_bytes())


def page_by_page(folder: Path, count: int, every: int) -> list[Step]:
    """Learn each page and clean it at once, as a crawl does; a step is ``every`` pages long."""
    denoiser, steps = Denoiser("style_tree"), [Step()]
    for url, html in Corpus(folder, count):
        if steps[-1].pages == every:
            steps.append(Step())
        step, start = steps[-1], process_time()
        page = Page.parse(url, html)
        denoiser.learn(page)
        learned = process_time()
        denoiser.clean(page)
        step.learn_seconds += learned - start
        step.clean_seconds += process_time() - learned
        step.pages += 1
        if step.pages == every:
            _look(step, denoiser, page.site)
    if steps[-1].pages < every:
        _look(steps[-1], denoiser, page.site)
    return steps


def _look(step: Step, denoiser: Denoiser, site: str) -> None:
    step.peak_bytes = peak_bytes()  # before the tree is written, which a crawl does once
    method = denoiser.method_for(site)
    assert isinstance(method, StyleTree)  # noqa: S101
    step.pages_in_tree = method.pages_known
    step.tree_bytes = len(method.to_bytes())
    say(f"  {step.pages} pages more: {step.learn_seconds + step.clean_seconds:.1f} s")


def alone(run: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Run ``run`` in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(run, *arguments, **named).result()


def steps_table(steps: list[Step], parsing: Step) -> str:
    """Return the table of the road page by page, with its sum."""
    per_page = parsing.clean_seconds / parsing.pages
    rows, done = [], 0
    for step in steps:
        rows.append([f"{done + 1:,} to {done + step.pages:,}", *_costs(step, per_page), *_state(step)])
        done += step.pages
    total = Step(done, sum(step.learn_seconds for step in steps), sum(step.clean_seconds for step in steps))
    rows.append(["all", *_costs(total, per_page), *_state(steps[-1])])
    heads = ["pages", "parse + learn s", "clean s", "sum s", "x lxml parse", "in tree", "tree KiB", "peak RSS MiB"]
    return table(heads, rows)


def _costs(step: Step, per_page: float) -> Iterator[str]:
    both = step.learn_seconds + step.clean_seconds
    yield from (f"{seconds:.1f}" for seconds in (step.learn_seconds, step.clean_seconds, both))
    yield f"{both / (per_page * step.pages):.1f}"


def _state(step: Step) -> Iterator[str]:
    yield str(step.pages_in_tree)
    yield f"{step.tree_bytes / 1024:,.0f}"
    yield _mib(step)


def _mib(step: Step) -> str:
    return f"{step.peak_bytes / MIB:.0f}"


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--pages", type=int, default=2_000, metavar="N", help="take N pages (2000)")
    parser.add_argument("--every", type=int, default=500, metavar="N", help="pages in a step of the table (500)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    folder = folder_with([SET])
    say("lxml")
    parsing = alone(parse_alone, folder, arguments.pages)
    say("page by page")
    steps = alone(page_by_page, folder, arguments.pages, arguments.every)
    say("as a stream")
    whole = alone(stream, folder, arguments.pages)
    print(f"style_tree on {parsing.pages:,} pages of {SET}, each learned and then cleaned (Denoiser)\n")
    print(steps_table(steps, parsing))
    rows = [
        [label, f"{step.clean_seconds:.1f}", f"{step.clean_seconds / parsing.clean_seconds:.1f}", _mib(step)]
        for label, step in (("lxml parse alone", parsing), ("denoise_pages: learn all, then clean all", whole))
    ]
    print(f"\nThe same pages\n\n{table(['', 's', 'x lxml parse', 'peak RSS MiB'], rows)}")
    figures = {"parse": asdict(parsing), "steps": [asdict(step) for step in steps], "stream": asdict(whole)}
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
