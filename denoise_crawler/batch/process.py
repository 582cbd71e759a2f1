"""What runs inside a worker process: its start, its limits, its tasks."""

from __future__ import annotations

import multiprocessing
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from denoise_crawler.errors import WorkerDiedError, describe_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from functools import partial

    from denoise_crawler.batch.workers import Limits

Result = TypeVar("Result")

EXIT_CODE_0 = 256  # reported instead of 0
OVER_TIME = getattr(signal, "SIGPROF", 0)  # 0: a system without it
_SPAWN: Any = multiprocessing.get_context("spawn")  # no fork: it must not keep the files and sockets of its parent

_states: list[Any] = []  # the one of this process


def start_process(make: Callable[[], Any], memory: int) -> None:
    """Limit this process and make its state. Making it has no time limit, because imports are slow."""
    limit_signals()
    limit_memory(memory)
    _states.append(make())


def limit_signals() -> None:
    """Let SIGTERM and the end of the CPU time kill this process, also inside a library that never comes back."""
    _limit_time(0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if OVER_TIME:
        signal.signal(OVER_TIME, signal.SIG_DFL)


def limit_memory(size: int) -> None:
    """Limit the bytes that this process may hold; 0 is no limit."""
    if size:
        with suppress(ImportError, OSError, ValueError):  # a system that does not count it, or allows less
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (size, resource.getrlimit(resource.RLIMIT_DATA)[1]))


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


def death_error(code: int | None, limits: Limits, *, over_clock: bool = False) -> WorkerDiedError:
    """Return the error of a task whose process died.

    Args:
        code: The exit code, None if the task did not begin.
        limits: The limits of the task.
        over_clock: Whether it was ended because it took too long by the clock.
    """
    over_time = OVER_TIME > 0 and code == -OVER_TIME
    if over_clock:
        how = f"took more than {limits.clock:g} s"
    elif over_time:
        how = f"took more than {limits.seconds:g} s of CPU time"
    elif code is None:
        how = "the process ended before the task began"
    elif code < 0:
        how = f"the process was killed by {signal.Signals(-code).name}"
    else:
        how = f"the process ended with exit code {code % EXIT_CODE_0}"
    error = WorkerDiedError(how)
    error.too_long = over_clock or over_time
    error.killed = code is not None and code < 0 and not error.too_long
    return error


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
