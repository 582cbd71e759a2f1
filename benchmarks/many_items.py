"""What many items of a page cost: time and store, beside the same crawl without us.

Pages of one site are served on this machine and crawled without delay by a spider that yields an item for each of
the first entries of a page, into a feed that goes nowhere. Beside each crawl stands one without us, whose spider
fills the text with as many characters as ours has on that page: what is left is the cost of ours. The store is
looked at all the time: its largest size, with its log, and what is left when the crawl is over.

The first table is of one large crawl, of a site that is unknown and then of the same site known. The second
compares pages of which each entry is an item with the same pages of which one is; half of them wait. Of several
runs the one with the least CPU time counts. Each crawl runs in a process of its own.
"""

from __future__ import annotations

import threading
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess

from benchmarks.bench import options, say, table, write_figures
from benchmarks.loopback import QUIET
from benchmarks.scale import MIB, alone
from tests.guests.site import html, story
from tests.loopback import HTML, Answer, serving
from tests.memory import peak_bytes

PAGES, ITEMS, COMPARED, REPEATS = 500, 200, 60, 3
MOST_CPU, MOST_BYTES = 2.6, 2.6
KIB = 1 << 10
_LOOKS = 0.01  # seconds between two looks at the store


@dataclass
class Order:
    """A crawl to be run."""

    urls: list[str]
    items: int
    settings: dict[str, Any] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)  # characters that the spider puts into the text


@dataclass
class Figures:
    """What one crawl took, and the length of the text on each page."""

    items: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int | None
    store_peak: int
    store_after: int
    lengths: dict[str, int]


class EntriesSpider(scrapy.Spider):
    """Yields an item for each of the first entries of a page."""

    name = "entries"

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order

    async def start(self) -> AsyncIterator[Any]:
        """Ask for all pages."""
        for url in self.order.urls:
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Iterator[dict[str, Any]]:
        """Yield the items of a page."""
        text = "x" * self.order.lengths.get(response.url, 0)
        for number, entry in enumerate(response.css("li.entry")[: self.order.items]):
            yield {"url": response.url, "number": number, "name": entry.css("a::text").get(), "text": text}


class StoreWatch:
    """Looks at the size of a store, its log included, while a crawl runs."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> StoreWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def size(self) -> int:
        """The bytes there are now."""
        files = (self.store, self.store.with_name(f"{self.store.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def _watch(self) -> None:
        while not self._ended.wait(_LOOKS):
            self.peak = max(self.peak, self.size)


def page(name: str) -> bytes:
    """Return a page with a story and :data:`ITEMS` entries of a few words, as lists of offers have them."""
    words = " ".join(word for part in range(ITEMS // 20) for word in story(f"{name} {part}")).split()
    names = (" ".join(words[4 * number : 4 * number + 4]) for number in range(ITEMS))
    entries = (
        f'<li class="entry"><a href="/entry/{name}-{number}">{entry}</a></li>'
        for number, entry in enumerate(names)
    )
    return html(name, f"<ol>{''.join(entries)}</ol>").encode()


def crawl(order: Order, store: Path) -> Figures:
    """Crawl as ordered and return what it took."""
    feeds = {"/dev/null": {"format": "jsonlines"}}
    process = CrawlerProcess({**QUIET, "FEEDS": feeds, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, **order.settings})
    crawler = process.create_crawler(EntriesSpider)
    lengths: dict[str, int] = {}

    def scraped(item: dict[str, Any]) -> None:
        lengths[item["url"]] = len(item["text"])

    crawler.signals.connect(scraped, signals.item_scraped)
    process.crawl(crawler, order=order)
    with StoreWatch(store) as watch:
        start, cpu = perf_counter(), process_time()
        process.start()
        seconds, cpu_seconds = perf_counter() - start, process_time() - cpu
    stats = crawler.stats.get_stats() if crawler.stats else {}
    scraped_items = stats.get("item_scraped_count", 0)
    return Figures(scraped_items, seconds, cpu_seconds, peak_bytes(), watch.peak, watch.size, lengths)


def with_us(store: Path, quota: int | None = None) -> dict[str, Any]:
    """Return the settings of a crawl with the add-on."""
    found: dict[str, Any] = {"ADDONS": {"denoise_crawler.Addon": 300}, "DENOISE_STORE": str(store)}
    return found if quota is None else {**found, "DENOISE_WARMUP_PAGES": quota}


def large_crawl(urls: Sequence[str], items: int, folder: Path) -> dict[str, Figures]:
    """Return what the large crawl takes: with us, and then without us."""
    store = folder / "large.sqlite"
    found = {}
    for name in ("with the add-on, site unknown", "with the add-on, site known"):
        say(name)
        found[name] = alone(crawl, Order(list(urls), items, with_us(store)), store)
    lengths = found["with the add-on, site unknown"].lengths
    for name, given in (("without, a text of equal length", lengths), ("without, no text", {})):
        say(name)
        found[name] = alone(crawl, Order(list(urls), items, lengths=given), folder / "none")
    return found


def measure_both(urls: Sequence[str], items: int, folder: Path, repeats: int) -> tuple[Figures, Figures]:
    """Return what pages of so many items take with us and without us: of each the run with the least CPU time."""
    ours, theirs = [], []
    for number in range(repeats):
        say(f"{len(urls)} pages of {items} items, run {number + 1} of {repeats}")
        store = folder / f"{items}-{number}.sqlite"
        quota = len(urls) // 2 + 1
        ours.append(alone(crawl, Order(list(urls), items, with_us(store, quota)), store))
        theirs.append(alone(crawl, Order(list(urls), items, lengths=ours[0].lengths), folder / "none"))
    return min(ours, key=lambda run: run.cpu_seconds), min(theirs, key=lambda run: run.cpu_seconds)


def cells(figures: Figures, without: Figures) -> list[str]:
    """Return the row of a crawl."""
    return [
        f"{figures.items:,}",
        f"{figures.seconds:.1f}",
        f"{figures.seconds / without.seconds:.2f}",
        f"{figures.cpu_seconds:.1f}",
        f"{figures.cpu_seconds / without.cpu_seconds:.2f}",
        "–" if figures.peak_bytes is None else f"{figures.peak_bytes / MIB:.0f}",
        f"{figures.store_peak / KIB:,.0f}",
        f"{figures.store_after / KIB:,.0f}",
    ]


def ratios(one: tuple[Figures, Figures], many: tuple[Figures, Figures]) -> dict[str, tuple[float, float, float]]:
    """Return what pages of one item take, pages of many, and how much that may be."""
    costs = [ours.cpu_seconds - theirs.cpu_seconds for ours, theirs in (one, many)]
    return {
        "CPU seconds of ours": (costs[0], costs[1], MOST_CPU),
        "store while items wait, KiB": (one[0].store_peak / KIB, many[0].store_peak / KIB, MOST_BYTES),
        "store afterwards, KiB": (one[0].store_after / KIB, many[0].store_after / KIB, MOST_BYTES),
    }


def ratio_rows(found: dict[str, tuple[float, float, float]]) -> list[list[str]]:
    """Return the rows of the second table."""
    return [
        [
            name,
            f"{one:,.2f}",
            f"{many:,.2f}",
            f"{many / one:.2f}",
            f"{most:g}",
            "yes" if many / one <= most else "no",
        ]
        for name, (one, many, most) in found.items()
    ]


HEADS = [
    *("crawl", "items", "seconds", "x without", "CPU seconds", "x without", "peak RSS MiB"),
    *("store at most KiB", "store afterwards KiB"),
]


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--pages", type=int, default=PAGES, metavar="N", help=f"of the large crawl ({PAGES})")
    parser.add_argument(
        "--items", type=int, default=ITEMS, metavar="N", help=f"of a page, at most {ITEMS} ({ITEMS})"
    )
    parser.add_argument("--compared", type=int, default=COMPARED, metavar="N", help=f"pages compared ({COMPARED})")
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N", help=f"runs of these ({REPEATS})")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    number = max(arguments.pages, arguments.compared)
    bodies = {f"/page/{at}": page(str(at)) for at in range(number)}
    with TemporaryDirectory() as made, serving(lambda path: Answer(200, HTML, bodies[path])) as site:
        urls = [site.url + path for path in bodies]
        large = large_crawl(urls[: arguments.pages], arguments.items, Path(made))
        one, many = (
            measure_both(urls[: arguments.compared], items, Path(made), arguments.repeats)
            for items in (1, arguments.items)
        )
    without = large["without, a text of equal length"]
    rows = [[name, *cells(figures, without)] for name, figures in large.items()]
    print(f"{arguments.pages:,} pages of {arguments.items:,} items, crawled on this machine without delay\n")
    print(table(HEADS, rows))
    found = ratios(one, many)
    heads = [
        f"{arguments.compared} pages, half of which wait",
        *("1 item a page", f"{arguments.items} items", "ratio", "at most", "held"),
    ]
    print(f"\n{table(heads, ratio_rows(found))}")
    figures = {name: _figures(each) for name, each in large.items()}
    write_figures(arguments.json, {"large": figures, "compared": found})


def _figures(figures: Figures) -> dict[str, Any]:
    return {name: value for name, value in asdict(figures).items() if name != "lengths"}


if __name__ == "__main__":
    main()
