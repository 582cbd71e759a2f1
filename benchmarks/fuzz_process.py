"""A run of fuzz inputs in a process of its own: what hangs or crashes there takes nothing else along."""

from __future__ import annotations

import faulthandler
import resource
import signal
import sys
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from denoise_crawler.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    from tests.fuzz.road import Road

GROUP = 20  # inputs that are pages of one site
REPORTED = 10  # of one site in so many a report is written: it costs more than all the rest of its pages
PATIENCE = 60  # CPU seconds for one input
MEMORY = 4 << 30  # bytes of address space for one process
_CONTEXT = get_context("spawn")
ROOT = Path(__file__).parent.parent


@dataclass
class Failure:
    """An input that failed: the ``file`` to send again, and the last line of what was raised."""

    number: int
    error: str
    file: str


@dataclass
class Result:
    """What came of some inputs. ``sizes`` counts inputs by the power of two below their characters or bytes."""

    inputs: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    texts: int = 0
    failures: list[Failure] = field(default_factory=list)
    peak_bytes: int = 0

    def add(self, other: Result) -> None:
        """Add what came of other inputs."""
        self.inputs += other.inputs
        self.sizes += other.sizes
        self.texts += other.texts
        self.failures += other.failures
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)


@dataclass(frozen=True)
class Chunk:
    """Inputs ``first`` up to ``end`` of ``seed``; ``trace`` is where to leave the branches that were taken."""

    seed: int
    first: int
    end: int
    failures: Path
    trace: Path | None = None


def run(chunk: Chunk) -> Result:
    """Run a chunk in a new process; one that dies is replaced by another, behind the input that it died of."""
    total, first = Result(), chunk.first
    while first < chunk.end:
        ours, theirs = _CONTEXT.Pipe(duplex=False)
        process = _CONTEXT.Process(target=_work, args=(chunk, first, theirs))
        process.start()
        theirs.close()
        number = first
        for message in _received(ours):
            if isinstance(message, Result):
                total.add(message)
                number = chunk.end
            else:
                number = message
        process.join()
        if number < chunk.end:
            total.inputs += number - first + 1
            error = f"the process ended with code {process.exitcode}: no end in {PATIENCE} s, or a crash"
            total.failures.append(Failure(number, error, _kept(chunk, number, error)))
            number += 1
        first = number
    return total


def methods_of(group: int) -> tuple[str, ...]:
    """Return the methods that judge a group: ``fusion`` and half of the others, by turns."""
    others = sorted(set(METHODS) - {"fusion"})
    return ("fusion", *others[group % 2 :: 2])


def _received(connection: Connection) -> Iterator[Result | int]:
    while True:
        try:
            yield connection.recv()
        except EOFError:
            return


def _work(chunk: Chunk, first: int, connection: Connection) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    if chunk.trace is None:
        connection.send(_travel(chunk, first, connection))
        return
    import coverage

    parts = [str(ROOT / "denoise_crawler" / "*")]
    tracer = coverage.Coverage(data_file=str(chunk.trace), branch=True, include=parts, config_file=False)
    tracer.start()
    result = _travel(chunk, first, connection)
    tracer.stop()
    tracer.save()
    connection.send(result)


def _travel(chunk: Chunk, first: int, connection: Connection) -> Result:
    from tests.fuzz.inputs import numbered
    from tests.fuzz.road import Road

    result, road = Result(), None
    # ends the process with a traceback, whatever code it is in
    faulthandler.register(signal.SIGVTALRM, file=sys.__stderr__ or sys.stderr, chain=True)
    for number in range(first, chunk.end):
        if road is None or number % GROUP == 0:
            road = Road(methods_of(number // GROUP))
        connection.send(number)
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
        source = numbered(chunk.seed, number)
        result.inputs += 1
        result.sizes[len(source).bit_length()] += 1
        try:
            result.texts += _one(road, source, chunk.seed, number)
        except Exception as error:
            said = traceback.format_exc()
            file = _kept(chunk, number, said)
            result.failures.append(Failure(number, f"{type(error).__name__}: {error}"[:200], file))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result.peak_bytes = used if sys.platform == "darwin" else used * 1024
    return result


def _one(road: Road, source: str | bytes, seed: int, number: int) -> bool:
    texts = road.travel(source)
    if number % GROUP == GROUP - 1:
        road.keep_and_learn_again(Random(f"{seed}:{number}:bytes"))
        if number // GROUP % REPORTED == 0:
            _report(seed, range(number + 1 - GROUP, number + 1), list(road.methods))
    return any(texts.values())


def _report(seed: int, numbers: range, methods: Sequence[str]) -> None:
    from tests.fuzz.inputs import numbered
    from tests.fuzz.road import write_all_in_a_report

    method = methods[numbers.start // (GROUP * REPORTED) % len(methods)]
    with TemporaryDirectory() as folder:
        write_all_in_a_report([numbered(seed, number) for number in numbers], method, Path(folder))


def _kept(chunk: Chunk, number: int, said: str) -> str:
    """Write an input and what was said of it to files; return the name of the first."""
    from tests.fuzz.inputs import numbered

    source = numbered(chunk.seed, number)
    chunk.failures.mkdir(parents=True, exist_ok=True)
    file = chunk.failures / f"{chunk.seed}-{number}.html"
    file.write_bytes(source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source)
    file.with_suffix(".txt").write_text(said, encoding="utf-8", errors="replace")
    return str(file)
