"""What each hostile page costs: seconds and memory of the road from HTML to text, alone in a process."""

from __future__ import annotations

import resource
import sys
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from time import monotonic, process_time
from typing import TYPE_CHECKING

from benchmarks.bench import say, table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from multiprocessing.connection import Connection

PATIENCE = 1_800  # seconds
MEMORY = 8 << 30  # bytes of address space
_CONTEXT = get_context("spawn")


@dataclass(frozen=True)
class Cost:
    """Of one page: its size, CPU seconds and peak bytes of the default road and of every method and output."""

    name: str
    size: int
    text_seconds: float = 0.0
    text_peak: int = 0
    all_seconds: float = 0.0
    all_peak: int = 0
    outcome: str = ""

    def figures(self) -> dict[str, object]:
        """Return all but the name."""
        return {key: value for key, value in asdict(self).items() if key != "name"}


def measure_all(names: Iterable[str] | None = None) -> list[Cost]:
    """Measure each page, one after the other."""
    from tests.fuzz.hostile import HOSTILE

    costs = []
    for name in names or HOSTILE:
        costs.append(measure(name))
        say(f"{name}: {costs[-1].all_seconds:.1f} s {costs[-1].outcome}")
    return costs


def measure(name: str) -> Cost:
    """Measure one page in a process of its own."""
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_work, args=(name, theirs))
    process.start()
    theirs.close()
    found, deadline = Cost(name, 0, outcome="crashed"), monotonic() + PATIENCE
    try:
        while ours.poll(max(deadline - monotonic(), 0.0)):
            found = ours.recv()
        found = Cost(**{**asdict(found), "outcome": f"no answer in {PATIENCE} s"})
        process.kill()
    except EOFError:
        pass
    process.join()
    return found


def costs_table(costs: list[Cost]) -> str:
    """Return the costs as a table."""
    rows = [
        [
            cost.name,
            f"{cost.size / 1e6:.1f}",
            f"{cost.text_seconds:.1f}",
            f"{cost.text_peak >> 20:,}",
            f"{cost.all_seconds:.1f}",
            f"{cost.all_peak >> 20:,}",
            cost.outcome,
        ]
        for cost in costs
    ]
    heads = [
        "page",
        "million characters",
        "text s",
        "peak RSS MiB",
        "all methods and outputs s",
        "peak RSS MiB",
        "",
    ]
    return table(heads, rows)


def _work(name: str, connection: Connection) -> None:
    from denoise_crawler.denoiser import Denoiser
    from denoise_crawler.page import Page
    from tests.fuzz.hostile import HOSTILE
    from tests.fuzz.road import Road

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    source = HOSTILE[name]()
    size = len(source)
    connection.send(Cost(name, size, outcome="crashed in the default road"))
    start = process_time()
    denoiser = Denoiser()
    page = Page.parse("https://hostile.example/1", source)
    denoiser.learn(page)
    denoiser.clean(page)
    first = Cost(name, size, process_time() - start, _peak(), outcome="crashed in some method or output")
    skipped = page.skipped or ""
    del page, denoiser
    connection.send(first)
    start = process_time()
    Road().travel(source)
    figures = {**asdict(first), "all_seconds": process_time() - start, "all_peak": _peak(), "outcome": skipped}
    connection.send(Cost(**figures))


def _peak() -> int:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
