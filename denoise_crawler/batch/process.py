"""A worker's process: how it is started and limited, and how it does a task."""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from functools import partial

Result = TypeVar("Result")

ENDED_WITH_0 = 256  # what the exit code 0 is told as
OVER_TIME = getattr(signal, "SIGPROF", 0)  # 0: a system without it
_SPAWN: Any = multiprocessing.get_context("spawn")  # no fork: it must not keep the files and sockets of its parent

_states: list[Any] = []  # the one of this process


def start_process(make: Callable[[], Any], memory: int) -> None:
    """Limit this process and make its state, which has no limit of time: it takes imports."""
    _limit_time(0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # kills, also inside a library that never comes back
    if OVER_TIME:
        signal.signal(OVER_TIME, signal.SIG_DFL)
    if memory:
        with suppress(ImportError, OSError, ValueError):  # a system that does not count it, or allows less
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    _states.append(make())


def call_with_state(function: Callable[..., Result], *given: Any, **named: Any) -> Result:
    """Call ``function`` with the state of this process first."""
    return function(_states[0], *given, **named)


def perform(task: partial[Result], seconds: float) -> tuple[Result | None, str]:
    """Do a task; an error comes back as text, since not every error can be pickled."""
    _limit_time(seconds)
    try:
        return task(), ""
    except (Exception, SystemExit) as error:
        return None, describe_error(error)
    finally:
        _limit_time(0)


def _limit_time(seconds: float) -> None:
    if OVER_TIME:
        signal.setitimer(signal.ITIMER_PROF, seconds)


def describe_error(error: BaseException) -> str:
    """Return what an error is and where it was raised, in a line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"


class _Process(_SPAWN.Process):  # type: ignore[misc]
    """A process that never ended well: pebble waits for ever for the result of one with the exit code 0."""

    @property
    def exitcode(self) -> int | None:
        code: int | None = super().exitcode
        return ENDED_WITH_0 if code == 0 else code


class _NoLock:
    """The lock of a pipe that only one process reads: a real one would outlive a parent that is killed."""

    def acquire(self, *_: object, **__: object) -> bool:
        return True

    def release(self) -> None:
        pass


class _OneProcess:
    """What a pool of one process asks of ``multiprocessing``."""

    Pipe = staticmethod(_SPAWN.Pipe)
    Process, RLock = _Process, _NoLock


ONE_PROCESS: Any = _OneProcess()


@contextmanager
def no_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from the processes and threads that are started meanwhile: it is this process that ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
