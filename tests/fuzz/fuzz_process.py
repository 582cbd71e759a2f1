"""A run of fuzz inputs in a worker process: what hangs or crashes there takes nothing else along."""

from __future__ import annotations

import faulthandler
import signal
import sys
import traceback
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from denoise_crawler.batch.workers import Limits, Worker
from denoise_crawler.errors import WorkerError
from denoise_crawler.methods import METHODS
from tests.fuzz.mutations import numbered
from tests.fuzz.road import Road, write_all_in_a_report
from tests.memory import peak_bytes

GROUP = 20  # inputs that are pages of one site
REPORTED = 10  # of one site in so many a report is written: it costs more than all the rest of its pages
ROOT = Path(__file__).parents[2]


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


class Sent(NamedTuple):
    """What came of one input: its size (characters or bytes), whether it has text, the error, the traceback."""

    size: int | None = None
    has_text: bool = False
    error: str = ""
    said: str = ""
    peak_bytes: int = 0


def run(chunk: Chunk, worker: Worker[Fuzzer]) -> Result:
    """Send a chunk through a worker process and return what comes of it."""
    result = Result()
    for number in range(chunk.first, chunk.end):
        try:
            found = worker.call(Fuzzer.send, number)
        except WorkerError as error:
            found = Sent(error=str(error), said=str(error))
        result.inputs += 1
        result.sizes.update([] if found.size is None else [found.size.bit_length()])
        result.texts += found.has_text
        result.peak_bytes = max(result.peak_bytes, found.peak_bytes)
        if found.error:
            result.failures.append(Failure(number, found.error[:200], _kept(chunk, number, found.said)))
    worker.call(Fuzzer.finish)
    worker.close()
    return result


def fuzzing(chunk: Chunk, limits: Limits | None = None) -> Worker[Fuzzer]:
    """Return a worker that fuzzes a chunk; its process starts with the first input."""
    return Worker(partial(Fuzzer, chunk), limits or Limits())


def methods_of(group: int) -> tuple[str, ...]:
    """Return the methods that judge a group: ``fusion`` and half of the others, by turns."""
    others = sorted(set(METHODS) - {"fusion"})
    return ("fusion", *others[group % 2 :: 2])


class Fuzzer:
    """Sends inputs, in a worker process. After one that ended the process another goes on behind it."""

    def __init__(self, chunk: Chunk) -> None:
        # the limit of time ends the process with a traceback, whatever code it is in
        faulthandler.register(signal.SIGPROF, file=sys.__stderr__ or sys.stderr, chain=True)
        self._seed, self._group, self._tracer = chunk.seed, -1, None
        if chunk.trace is not None:
            import coverage

            parts = [str(ROOT / "denoise_crawler" / "*")]
            self._tracer = coverage.Coverage(
                data_file=str(chunk.trace), branch=True, include=parts, config_file=False
            )
            self._tracer.start()

    def send(self, number: int) -> Sent:
        """Send input ``number``."""
        if number // GROUP != self._group:
            self._group = number // GROUP
            self._road = Road(methods_of(self._group))
        source = numbered(self._seed, number)
        has_text, error, said = False, "", ""
        try:
            has_text = any(self._road.travel(source).values())
            if number % GROUP == GROUP - 1:
                self._road.keep_and_learn_again(Random(f"{self._seed}:{number}:bytes"))
                if self._group % REPORTED == 0:
                    self._report()
        except Exception as raised:
            error, said = f"{type(raised).__name__}: {raised}", traceback.format_exc()
        return Sent(len(source), has_text, error, said, peak_bytes() or 0)

    def finish(self) -> None:
        """Write the branches that were taken."""
        if self._tracer is not None:
            self._tracer.stop()
            self._tracer.save()

    def _report(self) -> None:
        methods, first = list(self._road.methods), self._group * GROUP
        sources = [numbered(self._seed, number) for number in range(first, first + GROUP)]
        with TemporaryDirectory() as folder:
            write_all_in_a_report(sources, methods[self._group // REPORTED % len(methods)], Path(folder))


def _kept(chunk: Chunk, number: int, said: str) -> str:
    """Write an input and what was said of it to files; return the name of the first."""
    source = numbered(chunk.seed, number)
    chunk.failures.mkdir(parents=True, exist_ok=True)
    file = chunk.failures / f"{chunk.seed}-{number}.html"
    file.write_bytes(source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source)
    file.with_suffix(".txt").write_text(said, encoding="utf-8", errors="replace")
    return str(file)
