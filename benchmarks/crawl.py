"""What the add-on costs a crawl: pages a second, memory, and how long it keeps the event loop from other work.

Pages of the corpus are served on this machine by a process of their own and crawled without any delay by a spider
that yields one item a page and reads its title: first without the add-on, then with it (the sites are unknown:
their first pages wait for its quota), then again with the store that this left (the sites are known). All of
this is done for the pages of all sites, most of which never reach their quota, and for those of the largest sites,
as a crawl of a few sites meets them.

Every callback of the event loop is timed. A pause is the part of one that is spent in the add-on; the page that
caused it is the one whose response was handled, and the ratio is to what lxml needs to parse that page, both in
CPU time of the thread. Garbage is collected when Python thinks fit, and what falls into the add-on's time is
Scrapy's: responses and the trees they were parsed to. That time counts apart; a bare crawl has it as well. Wall
times stand beside it, for what is spent waiting for the disk. Each crawl runs in a process of its own.
"""

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from benchmarks.bench import folder_with, options, say, table, write_figures
from benchmarks.loopback import Served, crawl_of, gold_by_path, serve_pages
from benchmarks.pauses import ENDING, Meter, Pause
from benchmarks.scale import MIB, alone
from tests.memory import peak_bytes

SETS = ("christianbook", "dragnet", "daniel")
METHODS = ("fusion", "style_tree")
WITHOUT = "without"
LONGEST_PAUSE = 30.0


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


def crawl(place: Served, folder: Path, method: str) -> Figures:
    """Crawl all pages and return what it took."""
    settings: dict[str, Any] = {"CONCURRENT_REQUESTS_PER_DOMAIN": 16}
    if method != WITHOUT:
        settings |= {
            "ADDONS": {"denoise_crawler.Addon": 300},
            "DENOISE_METHOD": method,
            "DENOISE_STORE": str(folder / f"{method}.sqlite"),
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
    *("crawl", "pages/s", "x without", "x without, CPU", "peak RSS MiB"),
    *("longest callback ms", "longest collection ms", "longest of ours ms"),
    *("x lxml parse, median", "largest", f"over {LONGEST_PAUSE:g}", "at the end ms"),
]


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--methods", nargs="+", default=METHODS, metavar="NAME")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--pages", type=int, default=400, metavar="N", help="pages of each set (400)")
    parser.add_argument("--largest", type=int, default=6, metavar="N", help="then the N largest sites alone (6)")
    parser.add_argument("--worst", type=int, default=3, metavar="N", help="show the N longest pauses of each (3)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    corpus = folder_with(arguments.sets)
    pages = Counter(page.site for _, page in gold_by_path(corpus, arguments.sets, arguments.pages))
    largest = {site for site, _ in pages.most_common(arguments.largest)}
    figures = {}
    for name, sites in (("all sites", None), ("the largest sites", largest)):
        with serve_pages(corpus, arguments.sets, arguments.pages, sites) as place:
            say(name)
            found = measure(place, arguments.methods)
            show(name, found, place, arguments.worst)
        without = found[WITHOUT]
        figures[name] = {each: _figures(one, without, place) for each, one in found.items()}
    write_figures(arguments.json, figures)


def measure(place: Served, methods: Sequence[str]) -> dict[str, Figures]:
    """Crawl the pages without the add-on, then with each method."""
    with TemporaryDirectory() as made:
        found = {WITHOUT: alone(crawl, place, Path(made), WITHOUT)}
        for method, known in product(methods, ("", ", sites known")):
            name = f"{method}{known}"
            say(name)
            found[name] = alone(crawl, place, Path(made), method)
    return found


def show(name: str, found: dict[str, Figures], place: Served, most: int) -> None:
    """Print the tables of some crawls."""
    without = found[WITHOUT]
    sites = len({path.split("/")[1] for path in place.pages})
    print(f"{name}: {len(place.pages):,} pages of {sites}, crawled on this machine without delay\n")
    print(table(HEADS, [[each, *cells(figures, without, place)] for each, figures in found.items()]))
    rows = [row for each, figures in found.items() for row in worst(each, figures, place, most)]
    heads = ["longest pauses", "page", "wall ms", "CPU ms", "garbage ms", "x lxml parse", "of it, CPU ms"]
    print(f"\n{table(heads, rows)}\n")


def _figures(figures: Figures, without: Figures, place: Served) -> dict[str, Any]:
    found = [ratio for ratio, _ in ratios(figures, place)]
    return {name: value for name, value in asdict(figures).items() if name != "pauses"} | {
        "throughput": without.seconds / figures.seconds,
        "throughput_cpu": without.cpu_seconds / figures.cpu_seconds,
        "pause_ratios": {"median": median(found), "largest": found[0]} if found else None,
    }


if __name__ == "__main__":
    main()
