"""What a hostile page or archive costs: seconds and memory, measured in a process of its own."""

import ctypes
import gc
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from time import process_time
from typing import NamedTuple

from denoise_crawler.batch.process_pool import Limits, Worker
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.errors import WorkerError
from denoise_crawler.output.writing import FORMS, Writing
from denoise_crawler.page import Page
from denoise_crawler.reading import Reading, read_pages
from tests.fuzz.hostile import ARCHIVES, HOSTILE, record
from tests.fuzz.road import Road
from tests.memory import peak_bytes

LIMITS = Limits(seconds=1_800, memory=8 << 30, clock=3_600)
MOST_BYTES = 220_000_000
MOST_SECONDS = 10.0
METHODS = ("fusion", "style_tree")
FORM = "dearest form"  # of all but plain text
_SMALL = ("<p>A small page of some words.</p>" * 5, "<p>据新华网报道昨天下午的会议在上海举行</p>")


@dataclass(frozen=True)
class Cost:
    """Of one page or archive: its size, and by what was done with it the CPU seconds and the bytes added."""

    name: str
    size: int
    seconds: dict[str, float] = field(default_factory=dict)
    added: dict[str, int] = field(default_factory=dict)
    outcome: str = ""

    def figures(self) -> dict[str, object]:
        """Return all but the name."""
        return {key: value for key, value in asdict(self).items() if key != "name"}

    @property
    def within_bounds(self) -> bool:
        """Return True if the memory that is promised was enough."""
        return all(self.added.get(what, 0) <= MOST_BYTES for what in METHODS) and not self.outcome.startswith("!")


def measure(name: str, *, outputs: bool = True) -> Cost:
    """Measure one page or archive; ``outputs``: by all methods, in every form, as well."""
    whats = ("read",) if name in ARCHIVES else (*METHODS, FORM, *(("all",) if outputs else ()))
    found = Cost(name, 0)
    for what in whats:
        one = _in_a_process(name, what)
        found = Cost(name, one.size, {**found.seconds, **one.seconds}, {**found.added, **one.added}, one.outcome)
        if one.outcome.startswith("!"):
            break
    return found


def _in_a_process(name: str, what: str) -> Cost:
    """Return the cost of one thing that is done with a page or an archive, in a process of its own."""
    with Worker(partial(_Measurer, name, what), LIMITS) as worker:
        try:
            return worker.call(_Measurer.cost)
        except WorkerError as error:
            return Cost(name, 0, outcome=f"! {what}: {error}")


class _Measurer(NamedTuple):
    """What is measured in a worker process: what is done, with which page or archive."""

    name: str
    what: str

    def cost(self) -> Cost:
        name, what = self
        if what == "read":
            return _archive_cost(name, ARCHIVES[name]())
        made = HOSTILE[name]()
        sources = made if isinstance(made, list) else [made, made]
        for method in METHODS:
            _costs_of(method, _SMALL)
        if what == FORM:  # so that what the forms import is no cost of the page
            for form in FORMS:
                _costs_of("fusion", _SMALL, form)
        if what == "all":
            seconds, added, outcome = _costs_of_outputs(sources)
        elif what == FORM:
            written = [_costs_of("fusion", sources, form) for form in FORMS if form != "text"]
            seconds, added, outcome = _dearest(written)
        else:
            seconds, added, outcome = _costs_of(what, sources)
        return Cost(name, max(map(_size, sources)), {what: seconds}, {what: added}, outcome)


def _size(source: str | bytes) -> int:
    return len(source) if isinstance(source, bytes) else len(source.encode("utf-8", "surrogatepass"))


def _costs_of_outputs(sources: Iterable[str | bytes]) -> tuple[float, int, str]:
    def travel(source: str | bytes) -> str:
        Road().travel(source)
        return Page.parse("https://hostile.example/1", source).skipped or ""

    return _dearest([_measured(partial(travel, source)) for source in dict.fromkeys(sources)])


def _costs_of(method: str, sources: Iterable[str | bytes], form: str = "text") -> tuple[float, int, str]:
    """Return the most that one of some pages of a site costs to learn, judge and write; and what came of it."""
    denoiser, found = Denoiser(method, writing=Writing(form)), []
    for number, source in enumerate(sources):
        page = Page.parse(f"https://hostile.example/{number}", source)

        def clean(page: Page = page) -> str:
            denoiser.learn(page)
            denoiser.clean(page)
            return page.skipped or ""

        found.append(_measured(clean))
    return _dearest(found)


def _dearest(found: list[tuple[float, int, str]]) -> tuple[float, int, str]:
    seconds, added, outcomes = zip(*found, strict=True)
    return max(seconds), max(added), outcomes[0]


def _archive_cost(name: str, content: bytes) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        file, reading = Path(folder, "hostile.cwt"), Reading()
        file.write_bytes(content + record("", b"<p>a sound page"))
        size = len(content)
        del content

        def read() -> str:
            sound = [html for _, html in read_pages(file, reading=reading) if b"a sound page" in html[:100]]  # type: ignore[operator]
            return ", ".join([*reading.damage, *(f"{reading.pages} pages" for _ in sound)])

        seconds, added, outcome = _measured(read)
    return Cost(name, size, {"read": seconds}, {"read": added}, outcome)


def _measured(work: Callable[[], str]) -> tuple[float, int, str]:
    """Return the CPU seconds of ``work``, the most bytes that the process held more during it, and its result."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # else what was freed before hides what is taken now
    before, start = _held(reset=True), process_time()
    result = work()
    return process_time() - start, max(_held() - before, 0), result


def _held(*, reset: bool = False) -> int:
    """Return the most bytes that this process held since the last ``reset``; with it, what it holds now."""
    if reset:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes() or 0
