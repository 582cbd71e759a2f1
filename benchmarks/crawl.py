"""What the add-on costs a crawl: pages a second, memory, and how long it keeps the event loop from other work.

Pages of the corpus are served on this machine by a process of their own and crawled without any delay by a spider
that yields one item a page and reads its title: first without the add-on, then with it (the sites are unknown:
their first pages wait for its quota), then again with the store that this left (the sites are known). Then the
same with worker processes; CPU time and memory are those of the crawl's own process.

Every callback of the event loop is timed. A pause is the part of one that is spent in the add-on; the page that
caused it is the one whose response was handled, and the ratio is to what lxml needs to parse that page, both in
CPU time of the thread. Garbage is collected when Python thinks fit, and what falls into the add-on's time is
Scrapy's: responses and the trees they were parsed to. That time counts apart; a bare crawl has it as well. Wall
times stand beside it, for what is spent waiting for the disk. Each crawl runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, thread_time
from typing import TYPE_CHECKING, Any

from benchmarks.bench import folder_with, options, say, table, write_figures
from benchmarks.loopback import Served, crawl_of, serve_pages
from benchmarks.scale import MIB, alone
from denoise_crawler.crawl.leaving_items import LeavingItems
from denoise_crawler.crawl.middleware import ResponseSources
from denoise_crawler.crawl.page_cleaner import PageCleaner
from denoise_crawler.crawl.sites import Sites
from denoise_crawler.crawl.waiting_items import WaitingItems
from denoise_crawler.crawl.warmup import Warmup
from denoise_crawler.crawl.workers.connection import Connection
from denoise_crawler.evaluation.contender_process import peak_bytes

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Coroutine, Generator, Iterator
    from contextlib import AbstractContextManager

SETS = ("christianbook", "dragnet", "daniel")
METHODS = ("fusion", "style_tree")
WITHOUT = "without"
LEAST_THROUGHPUT, LONGEST_PAUSE = 0.7, 30.0
# What the add-on does on the event loop, by the methods that do it.
STAGES: dict[tuple[type, str], str] = {
    (ResponseSources, "source_of"): "page",
    (PageCleaner, "learn"): "parse and learn",
    (PageCleaner, "clean"): "judge and write",
    (WaitingItems, "park"): "park",
    (Connection, "send"): "hand over",
    (Connection, "data_received"): "answers",
}
WAITING_STAGES: dict[tuple[type, str], str] = {
    (Warmup, "take"): "take",
    (Sites, "save"): "save",
    (Sites, "save_all"): "save",
    (LeavingItems, "fill"): "fill",
    (Warmup, "_on_spider_opened"): "_on_spider_opened",
    (Warmup, "_on_engine_stopped"): "_on_engine_stopped",
}
ENDING = "(the end of the crawl)"


@dataclass
class Pause:
    """One callback of the loop in which the add-on worked, and what it did most of that time."""

    url: str
    cpu: float = 0.0
    wall: float = 0.0
    garbage: float = 0.0  # CPU seconds that are in ``wall`` and ``stages``, not in ``cpu``
    stages: Counter[str] = field(default_factory=Counter)


@dataclass
class Figures:
    """What one crawl took."""

    pages: int
    items: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int | None
    longest_callback: float
    longest_collection: float
    pauses: list[Pause]


_cause: ContextVar[str] = ContextVar("cause", default=ENDING)


class Meter:
    """Times every callback of the event loop, and what of it the add-on takes."""

    def __init__(self) -> None:
        self.pauses: list[Pause] = []
        self.longest = 0.0
        self.longest_collection = self._collecting = 0.0
        self._pause: Pause | None = None
        self._inside = 0

    def install(self) -> None:
        """Put the stop watch around the loop's callbacks and the add-on's entries."""
        gc.callbacks.append(self._collected)
        run = asyncio.Handle._run

        def timed(handle: asyncio.Handle) -> None:
            start = perf_counter()
            self._pause = None
            run(handle)
            self.longest = max(self.longest, perf_counter() - start)
            self._keep()

        asyncio.Handle._run = timed  # type: ignore[method-assign, assignment]
        for (owner, name), stage in STAGES.items():
            self._time(owner, name, stage)
        for (owner, name), stage in WAITING_STAGES.items():
            self._time_steps(owner, name, stage)
        self._time_each(WaitingItems, "release", "release")
        sources_of = ResponseSources.__init__

        def begin(sources: ResponseSources, warmup: Warmup, response: Any, crawler: Any) -> None:
            _cause.set(response.url)
            sources_of(sources, warmup, response, crawler)

        ResponseSources.__init__ = begin  # type: ignore[method-assign, assignment]

    def _collected(self, phase: str, _: object) -> None:
        if phase == "start":
            self._collecting = thread_time()
            return
        spent = thread_time() - self._collecting
        self.longest_collection = max(self.longest_collection, spent)
        if self._inside and self._pause is not None:
            self._pause.garbage += spent

    def _keep(self) -> None:
        if self._pause is not None:
            self.pauses.append(self._pause)

    def _time(self, owner: type, name: str, stage: str) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            with self._spent(stage):
                return function(*arguments, **named)

        setattr(owner, name, timed)

    def _time_steps(self, owner: type, name: str, stage: str) -> None:
        """Time what a coroutine does itself, not what it waits for."""
        function: Callable[..., Coroutine[Any, Any, Any]] = getattr(owner, name)

        async def timed(*arguments: Any) -> Any:  # no names, else a signal gives its handler all that it has
            return await Steps(function(*arguments), lambda: self._spent(stage))

        setattr(owner, name, timed)

    def _time_each(self, owner: type, name: str, stage: str) -> None:
        function: Callable[..., Iterator[Any]] = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Iterator[Any]:
            items = function(*arguments, **named)
            while True:
                with self._spent(stage):
                    found = next(items, None)
                if found is None:
                    return
                yield found

        setattr(owner, name, timed)

    @contextmanager
    def _spent(self, stage: str) -> Iterator[None]:
        if self._pause is None:
            self._pause = Pause(_cause.get())
        pause, garbage = self._pause, self._pause.garbage
        cpu, wall, self._inside = thread_time(), perf_counter(), self._inside + 1
        try:
            yield
        finally:
            self._inside -= 1
            spent = thread_time() - cpu
            pause.stages[stage] += spent  # type: ignore[assignment]
            if not self._inside:
                pause.cpu += spent - (pause.garbage - garbage)
                pause.wall += perf_counter() - wall


@dataclass
class Steps:
    """Awaits a coroutine, with ``around`` it whenever it runs."""

    coroutine: Coroutine[Any, Any, Any]
    around: Callable[[], AbstractContextManager[None]]

    def __await__(self) -> Generator[Any, Any, Any]:
        """Run it step by step."""
        step, given = self.coroutine.send, None
        while True:
            try:
                with self.around():
                    awaited = step(given)
            except StopIteration as end:
                return end.value
            try:
                given = yield awaited
                step = self.coroutine.send
            except BaseException as error:  # it is told of all that is thrown at it
                given, step = error, self.coroutine.throw


def crawl(place: Served, folder: Path, method: str, workers: int) -> Figures:
    """Crawl all pages and return what it took."""
    settings: dict[str, Any] = {"CONCURRENT_REQUESTS_PER_DOMAIN": 16}
    if method != WITHOUT:
        settings |= {
            "ADDONS": {"denoise_crawler.Addon": 300},
            "DENOISE_METHOD": method,
            "DENOISE_STORE": str(folder / f"{method}-{workers}.sqlite"),
            "DENOISE_WORKERS": workers,
            "DENOISE_SITE": "benchmarks.loopback.site_of_path",
        }
    meter = Meter()
    meter.install()
    process, crawler = crawl_of([place.url + path for path in place.pages], folder / "items.jsonl", settings)
    start, cpu = perf_counter(), process_time()
    process.start()
    stats = crawler.stats.get_stats() if crawler.stats else {}
    return Figures(
        pages=stats.get("response_received_count", 0),
        items=stats.get("item_scraped_count", 0),
        seconds=perf_counter() - start,
        cpu_seconds=process_time() - cpu,
        peak_bytes=peak_bytes(),
        longest_callback=meter.longest,
        longest_collection=meter.longest_collection,
        pauses=meter.pauses,
    )


def ratios(figures: Figures, place: Served) -> list[tuple[float, Pause]]:
    """Return the pauses that a page caused, with their ratio to its parse, the worst first."""
    found = [
        (pause.cpu / place.pages[path], pause)
        for pause in figures.pauses
        if (path := pause.url.removeprefix(place.url)) in place.pages
    ]
    return sorted(found, key=lambda pair: -pair[0])


def cells(figures: Figures, without: Figures, place: Served) -> list[str]:
    """Return the row of a crawl."""
    found = [ratio for ratio, _ in ratios(figures, place)]
    ending = max((pause.wall for pause in figures.pauses if pause.url == ENDING), default=0.0)
    return [
        f"{figures.pages / figures.seconds:.0f}",
        f"{without.seconds / figures.seconds:.2f}",
        f"{without.cpu_seconds / figures.cpu_seconds:.2f}",
        "–" if figures.peak_bytes is None else f"{figures.peak_bytes / MIB:.0f}",
        f"{1_000 * figures.longest_callback:.0f}",
        f"{1_000 * figures.longest_collection:.0f}",
        f"{1_000 * max((pause.wall for pause in figures.pauses), default=0.0):.0f}",
        *([f"{median(found):.1f}", f"{found[0]:.1f}"] if found else ["", ""]),
        str(sum(one > LONGEST_PAUSE for one in found)),
        f"{1_000 * ending:.0f}" if ending else "",
    ]


def worst(name: str, figures: Figures, place: Served, most: int) -> list[list[str]]:
    """Return rows of the longest pauses."""
    return [
        [
            name,
            pause.url.removeprefix(place.url),
            f"{1_000 * pause.wall:.0f}",
            f"{1_000 * pause.cpu:.0f}",
            f"{1_000 * pause.garbage:.0f}",
            f"{ratio:.0f}",
            ", ".join(f"{stage} {1_000 * spent:.0f}" for stage, spent in pause.stages.most_common(3)),
        ]
        for ratio, pause in ratios(figures, place)[:most]
    ]


HEADS = [
    *(
        "crawl",
        "pages/s",
        "x without",
        "x without, CPU",
        "peak RSS MiB",
        "longest callback ms",
        "longest collection ms",
        "longest of ours ms",
    ),
    *("x lxml parse, median", "largest", f"over {LONGEST_PAUSE:g}", "at the end ms"),
]


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--methods", nargs="+", default=METHODS, metavar="NAME")
    parser.add_argument("--workers", nargs="+", type=int, default=(0, 1), metavar="N", help="numbers of them")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--pages", type=int, default=400, metavar="N", help="pages of each set (400)")
    parser.add_argument("--worst", type=int, default=3, metavar="N", help="show the N longest pauses of each (3)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    corpus = folder_with(arguments.sets)
    found: dict[str, Figures] = {}
    with TemporaryDirectory() as made, serve_pages(corpus, arguments.sets, arguments.pages) as place:
        found[WITHOUT] = alone(crawl, place, Path(made), WITHOUT, 0)
        for method, workers, known in product(arguments.methods, arguments.workers, ("", ", sites known")):
            name = f"{method}{f', {workers} workers' * bool(workers)}{known}"
            say(name)
            found[name] = alone(crawl, place, Path(made), method, workers)
    without = found[WITHOUT]
    rows = [[name, *cells(figures, without, place)] for name, figures in found.items()]
    sites = len({path.split("/")[1] for path in place.pages})
    print(f"{len(place.pages):,} pages of {sites} sites, crawled on this machine without delay\n")
    print(table(HEADS, rows))
    rows = [row for name, figures in found.items() for row in worst(name, figures, place, arguments.worst)]
    heads = ["longest pauses", "page", "wall ms", "CPU ms", "garbage ms", "x lxml parse", "of it, CPU ms"]
    print(f"\n{table(heads, rows)}")
    write_figures(arguments.json, {name: _figures(each, without, place) for name, each in found.items()})


def _figures(figures: Figures, without: Figures, place: Served) -> dict[str, Any]:
    found = [ratio for ratio, _ in ratios(figures, place)]
    return {name: value for name, value in asdict(figures).items() if name != "pauses"} | {
        "throughput": without.seconds / figures.seconds,
        "throughput_cpu": without.cpu_seconds / figures.cpu_seconds,
        "pause_ratios": {"median": median(found), "largest": found[0]} if found else None,
    }


if __name__ == "__main__":
    main()
