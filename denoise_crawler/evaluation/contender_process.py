"""One contender in a process of its own: its time is counted without reading and sending, its memory is its own.

Processes come from a fork server where there is one. On Linux the peak of a process that was started by fork
and exec begins at its parent's.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import sys
import warnings
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from multiprocessing.connection import wait
from time import process_time
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

from denoise_crawler.evaluation.contenders import Contender, Extractor, Failure, Source, failure
from denoise_crawler.evaluation.page_file import Place, read_page

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess
    from pathlib import Path


class Task(NamedTuple):
    """A page to be read: its number, its set, and what its extractor gets."""

    number: int
    set: str
    url: str
    language: str | None
    place: Place


Site: TypeAlias = "Sequence[Task]"  # the pages of one site of one set


class Answer(NamedTuple):
    """What came out of the page with this number."""

    number: int
    text: str | Failure


class Missing(NamedTuple):
    """The contender cannot be loaded."""

    why: str


class Cost(NamedTuple):
    """What a contender took: CPU seconds by set, and the peak of its process in bytes where it is known."""

    seconds: dict[str, float]
    peak_bytes: int | None


class Ended(NamedTuple):
    """The process is gone."""


Message: TypeAlias = "Answer | Missing | Cost | Ended"


@dataclass
class Stopwatch:
    """CPU seconds of this process, without those spent in ``paused``."""

    _start: float = field(default_factory=process_time)
    _paused: float = 0.0

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return process_time() - self._start - self._paused

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out what is done meanwhile."""
        start = process_time()
        try:
            yield
        finally:
            self._paused += process_time() - start


def run_all(
    contenders: Sequence[Contender], file: Path, sites: Sequence[Site], workers: int
) -> Generator[tuple[int, Message], None, None]:
    """Run each contender over all pages, ``workers`` at a time; yield (number of the contender, message)."""
    context = _context()
    to_come = deque(enumerate(contenders))
    running: dict[Any, tuple[int, BaseProcess]] = {}  # by the end of their pipe
    try:
        while to_come or running:
            while to_come and len(running) < workers:
                number, contender = to_come.popleft()
                connection, process = _started(context, contender, file, sites)
                running[connection] = number, process
            ready: Any
            for ready in wait(list(running)):
                number, process = running[ready]
                try:
                    yield number, ready.recv()
                except (EOFError, OSError):
                    del running[ready]
                    _end(ready, process)
                    yield number, Ended()
    finally:
        for connection, (_, process) in running.items():
            process.terminate()
            _end(connection, process)


def _context() -> BaseContext:
    methods = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")


def _started(
    context: BaseContext, contender: Contender, file: Path, sites: Sequence[Site]
) -> tuple[Connection, BaseProcess]:
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, contender, file, sites), daemon=True)  # type: ignore[attr-defined]
    process.start()
    theirs.close()  # so that the end of the process is the end of the pipe
    return ours, process


def _end(connection: Connection, process: BaseProcess) -> None:
    connection.close()
    process.join()
    process.close()


def _work(connection: Connection, contender: Contender, path: Path, sites: Sequence[Site]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # at Ctrl-C the one who waits ends it
    logging.disable()
    warnings.simplefilter("ignore")
    sys.stdout = sys.stderr  # the tables' place
    try:
        extract = contender.load()
    except Exception as error:
        connection.send(Missing(str(error)))
        return
    seconds: dict[str, float] = {}
    with path.open("rb") as file:
        for site in sites:
            watch = Stopwatch()
            for answer in answers(extract, site, file, watch):
                with watch.paused():
                    connection.send(answer)
            seconds[site[0].set] = seconds.get(site[0].set, 0.0) + watch.seconds
    connection.send(Cost(seconds, peak_bytes()))


def answers(extract: Extractor, site: Site, file: IO[bytes], watch: Stopwatch) -> Iterator[Answer]:
    """Yield an answer for each page of a site; where the extractor breaks off, the other pages have failed."""
    given, why = 0, Failure("no text was given")
    try:
        for task, text in zip(site, extract(_sources(site, file, watch)), strict=False):
            yield Answer(task.number, text)
            given += 1
    except Exception as error:
        why = failure(error)
    yield from map(Answer, (task.number for task in site[given:]), repeat(why))


def _sources(site: Site, file: IO[bytes], watch: Stopwatch) -> Iterator[Source]:
    for task in site:
        with watch.paused():
            html = read_page(file, task.place)
        yield Source(task.url, html, task.language)


def peak_bytes() -> int | None:
    """Return the most memory this process ever held, None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
