"""What runs inside a worker process: its start, its limits, its tasks."""

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

EXIT_CODE_0 = 256  # reported instead of 0
OVER_TIME = getattr(signal, "SIGPROF", 0)  # 0: a system without it
_SPAWN: Any = multiprocessing.get_context("spawn")  # no fork: it must not keep the files and sockets of its parent

_states: list[Any] = []  # the one of this process


def start_process(make: Callable[[], Any], memory: int) -> None:
    """Limit this process and make its state. Making it has no time limit, because imports are slow."""
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
    """Call ``function`` with the state of this process as first argument."""
    return function(_states[0], *given, **named)


def perform(task: partial[Result], seconds: float) -> tuple[Result | None, str]:
    """Run a task. An error comes back as text, because not every error can be pickled."""
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
    """Return an error and where it was raised, in one line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"


class _Process(_SPAWN.Process):  # type: ignore[misc]
    """A process that never reports exit code 0, for which pebble would wait for ever."""

    @property
    def exitcode(self) -> int | None:
        code: int | None = super().exitcode
        return EXIT_CODE_0 if code == 0 else code


class _NoLock:
    """A lock that does nothing: only one process reads the pipe, and a real lock would outlive a killed parent."""

    def acquire(self, *_: object, **__: object) -> bool:
        return True

    def release(self) -> None:
        pass


class _OneProcess:
    """The parts of ``multiprocessing`` that a pool of one process uses."""

    Pipe = staticmethod(_SPAWN.Pipe)
    Process, RLock = _Process, _NoLock


ONE_PROCESS: Any = _OneProcess()


@contextmanager
def no_interrupts() -> Iterator[None]:
    """Block Ctrl-C in the processes and threads started inside the block: this process ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
