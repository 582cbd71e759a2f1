"""What a large site costs, and what many sites cost: seconds per 1,000 pages, memory, bytes of what is known.

One site: each page is learned and cleaned at once, as in a crawl. The first 2,000 pages are product pages of a
real shop; the others are the same ones under other addresses with every digit of their text changed, so that they
are other pages of the same template. ``fusion`` and ``style_tree`` keep a sample of at most 128 pages of a site:
those with the lowest hash of their address. So what they know stops growing there, and of the n-th page after that
one in n / 128 is still learned: the seconds fall with n until only parsing, judging and writing are left.

Many sites: ten pages each, of news sites and blogs under made-up hosts, with what is known kept in a store. In
turns, every site has its first page before any has its second, which is the worst order for the sites that are
kept in memory (``DENOISE_SITES_IN_MEMORY``).

Each road runs in a process of its own, so that its peak memory is its own. Seconds are CPU seconds without those
of reading the corpus; read them as ratios to what lxml needs to parse the same pages in the same process. Bytes in
memory are summed over all objects and arrays that can be reached from what is known (``tests.memory``).
"""

import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import ParamSpec, TypeVar

from benchmarks.bench import folder_with, options, parse_with_lxml, say, table, write_figures
from denoise_crawler.denoiser import SITES_IN_MEMORY, Denoiser
from denoise_crawler.evaluation import by_site, read_gold
from denoise_crawler.methods import Method, MethodChoice
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.page import Page
from denoise_crawler.store import Store
from denoise_crawler.store.knowledge import StoredKnowledge
from tests.memory import bytes_held, peak_bytes

P = ParamSpec("P")
T = TypeVar("T")
METHODS = ("fusion", "style_tree")
SHOP, SHOP_PAGES = "christianbook", 2_000
NEWS, PAGES_OF_A_SITE, GROUPS = ("daniel", "dragnet"), 10, 60
MIB = 1 << 20
BOUNDS = {"growth": 1.1, "memory": 5.0, "stored": 1.0, "slower": 1.1}
_TEXT = re.compile(r">[^<>]+<")
_DIGITS = "0123456789"


@dataclass
class Step:
    """What some pages cost, and what stood there after them. ``mean_`` figures are by site."""

    pages: int = 0
    parse_seconds: float = 0.0  # lxml alone
    learn_seconds: float = 0.0  # with the parse
    clean_seconds: float = 0.0
    pages_known: int = 0
    memory_bytes: int = 0
    stored_bytes: int = 0
    peak_bytes: int | None = None  # where the system tells

    @property
    def seconds(self) -> float:
        """Return the CPU seconds of the whole road."""
        return self.learn_seconds + self.clean_seconds

    @property
    def parses(self) -> float:
        """Return the whole road as a ratio to lxml's parse, which suffers alike when the machine is slow."""
        return self.seconds / self.parse_seconds

    def take(self, denoiser: Denoiser, url: str, html: str) -> None:
        """Learn and clean one page, and let lxml parse it."""
        source = html.encode("utf-8", "replace")
        start = process_time()
        parse_with_lxml(source)
        parsed = process_time()
        page = Page.parse(url, source)
        denoiser.learn(page)
        learned = process_time()
        denoiser.clean(page)
        self.clean_seconds += process_time() - learned
        self.learn_seconds += learned - parsed
        self.parse_seconds += parsed - start
        self.pages += 1


def renumber(html: str, by: int) -> str:
    """Return ``html`` with every digit of its text raised by ``by``; 9 is followed by 0."""
    if not by % 10:
        return html
    other = str.maketrans(_DIGITS, _DIGITS[by % 10 :] + _DIGITS[: by % 10])
    return _TEXT.sub(lambda text: text[0].translate(other), html)


def shop_pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the pages of the shop, for ever."""
    for again in count():
        for page in islice(read_gold(folder, SHOP), SHOP_PAGES):
            url = page.address
            if again:
                url += f"{'&' if '?' in url else '?'}copy={again}"
            yield url, renumber(page.html, again)


def one_site(folder: Path, method: str, pages: int, every: int) -> list[Step]:
    """Learn and clean ``pages`` of the shop; a step is ``every`` pages long."""
    denoiser, steps = Denoiser(method), [Step()]
    for url, html in islice(shop_pages(folder), pages):
        if steps[-1].pages == every:
            steps.append(Step())
        steps[-1].take(denoiser, url, html)
        if steps[-1].pages == every:
            _look(steps[-1], denoiser.method_for(Page.parse(url, html).site))
    if steps[-1].pages < every:
        _look(steps[-1], denoiser.method_for(Page.parse(url, html).site))
    return steps


def _look(step: Step, method: Method) -> None:
    step.peak_bytes = peak_bytes()  # before it is written, which a crawl does once
    step.pages_known, step.memory_bytes = method.pages_known, known_bytes(method)
    step.stored_bytes = len(method.to_bytes())
    say(f"  {step.pages} pages more: {step.seconds:.1f} s")


def known_bytes(method: Method) -> int:
    """Return the bytes in memory of what ``method`` knows of its site."""
    return bytes_held(method.evidence if isinstance(method, Fusion) else method)


class MeasuredKnowledge(StoredKnowledge):
    """What a store knows of sites, with the bytes of each site that were stored last."""

    def __init__(self, store: Store, choice: MethodChoice) -> None:
        super().__init__(store, choice)
        self.bytes: dict[str, int] = {}

    def put(self, site: str, known: bytes) -> bool:
        """Store what is known of ``site``."""
        self.bytes[site] = len(known)
        return super().put(site, known)


@dataclass(frozen=True)
class Order:
    """How the pages of many sites come, and how many sites stay in memory."""

    in_turns: bool
    in_memory: int

    def __str__(self) -> str:
        return f"{'in turns' if self.in_turns else 'site by site'}, {self.in_memory:,} in memory"

    def places(self, sites: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of the numbers of a site and of a page of it."""
        if self.in_turns:
            return ((site, page) for page in range(PAGES_OF_A_SITE) for site in range(sites))
        return ((site, page) for site in range(sites) for page in range(PAGES_OF_A_SITE))


def write_groups(folder: Path, to: Path) -> int:
    """Write groups of ten pages of one site into ``to``, a file each; return how many there are."""
    groups = 0
    for name in NEWS:
        for pages in by_site(read_gold(folder, name), PAGES_OF_A_SITE).values():
            if groups < GROUPS:
                for number, page in enumerate(pages[:PAGES_OF_A_SITE]):
                    (to / f"{groups}-{number}.html").write_text(page.html, "utf-8", "replace", newline="")
                groups += 1
    return groups


def many_sites(pages: Path, groups: int, method: str, sites: int, order: Order) -> Step:
    """Learn and clean the pages of many sites."""
    step, held = Step(), dict[str, int]()
    with closing(Store(pages / f"{method}-{order}.sqlite")) as store:
        known = MeasuredKnowledge(store, MethodChoice(method))
        denoiser = Denoiser(method, knowledge=known, sites_in_memory=order.in_memory)
        for site, number in order.places(sites):
            html = (pages / f"{site % groups}-{number}.html").read_text("utf-8")
            name = f"site{site:05}.example"
            step.take(denoiser, f"https://{name}/{number}", renumber(html, site // groups))
            if number == PAGES_OF_A_SITE - 1 and site % 20 == 0:
                held[name] = known_bytes(denoiser.method_for(name))
        step.peak_bytes = peak_bytes()
        start = process_time()
        denoiser.save()
        step.clean_seconds += process_time() - start
    step.memory_bytes = sum(held.values()) // len(held)
    step.stored_bytes = sum(known.bytes.values()) // max(1, len(known.bytes))  # none where all stay in memory
    step.pages_known = PAGES_OF_A_SITE
    say(f"  {method}, {order}: {step.seconds:.1f} s")
    return step


def alone(run: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Run ``run`` in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(run, *arguments, **named).result()


def together(steps: Sequence[Step]) -> Step:
    """Return the cost of ``steps`` and what stood there after the last."""
    summed = {"pages", "parse_seconds", "learn_seconds", "clean_seconds"}
    values = {
        field.name: sum(getattr(step, field.name) for step in steps)
        if field.name in summed
        else getattr(steps[-1], field.name)
        for field in fields(Step)
    }
    return Step(**values)


HEADS = [
    *("s per 1,000", "learn", "clean", "x lxml parse"),
    *("pages known", "in memory KiB", "stored KiB", "peak RSS MiB"),
]


def site_table(steps: Sequence[Step]) -> str:
    """Return the table of one site: the first steps, then ever longer stretches, and the last step by itself."""
    ends = sorted({end for end in (1, 2, 3, 4, 10, 20, len(steps) - 1, len(steps)) if 0 < end <= len(steps)})
    rows, done, begin = [], 0, 0
    for end in ends:
        part = together(steps[begin:end])
        rows.append([f"{done + 1:,} to {done + part.pages:,}", *_cells(part)])
        done, begin = done + part.pages, end
    return table(["pages", *HEADS], [*rows, ["all", *_cells(together(steps))]])


def _cells(step: Step) -> list[str]:
    thousand = [1_000 * seconds / step.pages for seconds in (step.seconds, step.learn_seconds, step.clean_seconds)]
    return [
        *(f"{seconds:.1f}" for seconds in thousand),
        f"{step.parses:.1f}",
        str(step.pages_known),
        *(f"{held / 1024:,.0f}" for held in (step.memory_bytes, step.stored_bytes)),
        "–" if step.peak_bytes is None else f"{step.peak_bytes / MIB:.0f}",
    ]


def bounds(steps: Sequence[Step], every: int) -> dict[str, tuple[float, float]]:
    """Return figures of a site and the bound of each: of its first 2,000 pages, and of the last of all."""
    half, whole = SHOP_PAGES // 2 // every, SHOP_PAGES // every
    if not half or len(steps) < whole:
        half, whole = max(1, len(steps) // 2), len(steps)
    first, middle, at, last = steps[0], steps[half - 1], steps[whole - 1], steps[-1]

    def upto(step: Step) -> str:
        return f"{together(steps[: steps.index(step) + 1]).pages:,} pages"

    stored, memory = at.stored_bytes / middle.stored_bytes, at.memory_bytes / middle.memory_bytes
    spent, ratio = (f"{what}, last {every} / first {every}" for what in ("seconds", "x lxml parse"))
    return {
        f"stored bytes, {upto(at)} / {upto(middle)}": (stored, BOUNDS["growth"]),
        f"bytes in memory, {upto(at)} / {upto(middle)}": (memory, BOUNDS["growth"]),
        f"MiB in memory, {upto(at)}": (at.memory_bytes / MIB, BOUNDS["memory"]),
        f"MiB stored, {upto(at)}": (at.stored_bytes / MIB, BOUNDS["stored"]),
        f"{spent}, {upto(at)}": (at.seconds / first.seconds, BOUNDS["slower"]),
        f"{spent}, {upto(last)}": (last.seconds / first.seconds, BOUNDS["slower"]),
        f"{ratio}, {upto(last)}": (last.parses / first.parses, BOUNDS["slower"]),
    }


def bounds_table(found: dict[str, tuple[float, float]]) -> str:
    """Return the table of bounds."""
    rows = [
        [name, f"{value:.2f}", f"{most:g}", "yes" if value <= most else "no"]
        for name, (value, most) in found.items()
    ]
    return table(["", "measured", "bound", "held"], rows)


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--pages", type=int, default=20_000, metavar="N", help="pages of one site (20000)")
    parser.add_argument("--every", type=int, default=500, metavar="N", help="pages in a step (500)")
    parser.add_argument("--sites", type=int, default=2_000, metavar="N", help="sites of ten pages (2000, 0: none)")
    return parser.parse_args(argv)


def _one_site(folder: Path, arguments: Namespace) -> dict[str, object]:
    figures: dict[str, object] = {}
    for method in arguments.methods if arguments.pages else ():
        say(f"one site, {method}")
        steps = alone(one_site, folder, method, arguments.pages, arguments.every)
        held = bounds(steps, arguments.every)
        print(f"{method}: {arguments.pages:,} pages of {SHOP}, each learned and then cleaned\n")
        print(f"{site_table(steps)}\n")
        print(f"{bounds_table(held)}\n", flush=True)
        figures[method] = {"steps": [asdict(step) for step in steps], "bounds": held}
    return figures


def _many_sites(folder: Path, arguments: Namespace) -> dict[str, object]:
    figures: dict[str, object] = {}
    orders = [Order(False, SITES_IN_MEMORY), Order(True, SITES_IN_MEMORY), Order(True, arguments.sites)]
    rows = []
    with TemporaryDirectory() as made:
        groups = alone(write_groups, folder, Path(made))
        for method in arguments.methods:
            run = partial(many_sites, Path(made), groups, method, arguments.sites)
            found = {str(order): alone(run, order) for order in orders}
            rows += [[f"{method}, {order}", *_cells(step)] for order, step in found.items()]
            figures[method] = {order: asdict(step) for order, step in found.items()}
    print(
        f"{arguments.sites:,} sites of {PAGES_OF_A_SITE} pages; bytes are by site\n\n{table(['', *HEADS], rows)}"
    )
    return figures


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    folder = folder_with((SHOP, *NEWS) if arguments.sites else (SHOP,))
    figures = {"one site": _one_site(folder, arguments)}
    if arguments.sites:
        figures["many sites"] = _many_sites(folder, arguments)
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
