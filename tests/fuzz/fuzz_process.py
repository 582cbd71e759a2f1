"""A run of fuzz inputs in a worker process: an input that hangs or crashes costs no other."""

from __future__ import annotations

import faulthandler
import signal
import sys
import traceback
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from denoise_crawler.batch.process_pool import Limits, Worker
from denoise_crawler.errors import WorkerError
from denoise_crawler.methods import METHODS
from tests.fuzz.mutations import numbered
from tests.fuzz.road import Road, write_all_in_a_report
from tests.memory import peak_bytes

GROUP = 20  # inputs that are pages of one site
REPORTED = 10  # of one site in so many a report is written: it costs more than all the rest of its pages


@dataclass
class Result:
    """What came of some inputs: how many, how many with text, by number the error and file of each that failed."""

    inputs: int = 0
    texts: int = 0
    failures: dict[int, tuple[str, Path]] = field(default_factory=dict)
    peak_bytes: int = 0

    def add(self, other: Result) -> None:
        """Add what came of other inputs."""
        self.inputs += other.inputs
        self.texts += other.texts
        self.failures |= other.failures
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)


class Sent(NamedTuple):
    """What came of one input: whether it has text, the error, the traceback."""

    has_text: bool = False
    error: str = ""
    traceback: str = ""
    peak_bytes: int = 0


def run(inputs: range, failures: Path, seed: int, limits: Limits | None = None) -> Result:
    """Send inputs of a seed through a worker process; write those that fail, and their tracebacks, to a folder."""
    result = Result()
    with Worker(partial(Fuzzer, seed), limits or Limits()) as worker:
        for number in inputs:
            try:
                sent = worker.call(Fuzzer.send, number)
            except WorkerError as error:
                sent = Sent(error=str(error), traceback=str(error))
            result.inputs += 1
            result.texts += sent.has_text
            result.peak_bytes = max(result.peak_bytes, sent.peak_bytes)
            if sent.error:
                result.failures[number] = sent.error[:200], _written(failures, seed, number, sent.traceback)
    return result


def methods_of(group: int) -> tuple[str, ...]:
    """Return the methods that judge a group: ``fusion`` and half of the others, by turns."""
    others = sorted(set(METHODS) - {"fusion"})
    return ("fusion", *others[group % 2 :: 2])


class Fuzzer:
    """Sends inputs, in a worker process. After one that ended the process, a new process goes on."""

    def __init__(self, seed: int) -> None:
        # the limit of time ends the process with a traceback, whatever code it is in
        faulthandler.register(signal.SIGPROF, file=sys.__stderr__ or sys.stderr, chain=True)
        self._seed, self._group = seed, -1

    def send(self, number: int) -> Sent:
        """Send input ``number``."""
        if number // GROUP != self._group:
            self._group = number // GROUP
            self._road = Road(methods_of(self._group))
        has_text, error, trace = False, "", ""
        try:
            has_text = any(self._road.travel(numbered(self._seed, number)).values())
            if number % GROUP == GROUP - 1:
                self._road.keep_and_learn_again(Random(f"{self._seed}:{number}:bytes"))
                if self._group % REPORTED == 0:
                    self._report()
        except Exception as raised:
            error, trace = f"{type(raised).__name__}: {raised}", traceback.format_exc()
        return Sent(has_text, error, trace, peak_bytes() or 0)

    def _report(self) -> None:
        methods, first = list(self._road.methods), self._group * GROUP
        sources = [numbered(self._seed, number) for number in range(first, first + GROUP)]
        with TemporaryDirectory() as folder:
            write_all_in_a_report(sources, methods[self._group // REPORTED % len(methods)], Path(folder))


def _written(failures: Path, seed: int, number: int, trace: str) -> Path:
    """Write an input and its traceback to files; return the path of the first."""
    source = numbered(seed, number)
    failures.mkdir(parents=True, exist_ok=True)
    file = failures / f"{seed}-{number}.html"
    file.write_bytes(source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source)
    file.with_suffix(".txt").write_text(trace, encoding="utf-8", errors="replace")
    return file
