"""Calls done in a process of their own, with limits: a call that kills it is told from the others."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_SECONDS_TO_END = 10.0
_TRIES = 2  # a process that was killed from outside must not cost a page


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may take: seconds of CPU time, and bytes of memory of the process that handles it."""

    seconds: float = 60.0
    memory: int = 4 << 30


class PageKilledError(Exception):
    """A call killed the process, each time it was tried; the message says by what."""


class CallError(Exception):
    """A call raised; the message says what and where."""


class PageProcess:
    """An object in a process of its own, made by ``make()`` (picklable) when it is first called.

    After a process has died the next call starts another and repeats what was last given to :meth:`prepare`.
    """

    def __init__(self, make: Callable[[], object], limits: Limits) -> None:
        self._make, self._limits = make, limits
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None
        self._prepared: tuple[str, tuple[Any, ...]] | None = None
        self._is_prepared = True

    def prepare(self, name: str, *arguments: Any) -> None:
        """Have a method called before the next call, as its effect is needed by all that follow."""
        self._prepared, self._is_prepared = (name, arguments), False

    def call(self, name: str, *arguments: Any) -> Any:
        """Return what the method returns.

        Raises :class:`CallError` if it raises, :class:`PageKilledError` if the process dies over it: at once if
        the time was up, else if it does so a second time.
        """
        died = ""
        for _ in range(_TRIES):
            self._start()
            try:
                if self._prepared is not None and not self._is_prepared:
                    self._exchange(self._prepared)
                    self._is_prepared = True
                return self._exchange((name, arguments))
            except _DiedError as error:
                died = str(error)
                if error.by == signal.SIGPROF:
                    died = f"took more than {self._limits.seconds:g} s of CPU time"
                    break
        raise PageKilledError(died)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._ended()

    def _start(self) -> None:
        if self._process is not None:
            return
        ours, theirs = Pipe()
        self._connection = ours
        self._process = subprocess.Popen(  # noqa: S603 - no fork: it must not keep the socket of Spark's worker
            [sys.executable, "-m", "denoise_crawler.spark.child", str(theirs.fileno())],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        try:
            ours.send((self._make, self._limits))
            ours.recv()
        except (EOFError, OSError):
            raise RuntimeError(f"the process for pages does not start: it {self._ended()}") from None
        self._is_prepared = False

    def _exchange(self, call: tuple[str, tuple[Any, ...]]) -> Any:
        assert self._connection is not None  # noqa: S101
        try:
            self._connection.send(call)
            result, error = self._connection.recv()
        except (EOFError, OSError):
            raise _DiedError(self._ended()) from None
        if error:
            raise CallError(error)
        return result

    def _ended(self) -> int:
        """Close the pipe, wait for the process and return its exit code; a process that goes on is killed."""
        assert self._process is not None  # noqa: S101
        assert self._connection is not None  # noqa: S101
        self._connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)
        self._process.kill()
        code = self._process.wait()
        self._process = self._connection = None
        return code


class _DiedError(Exception):
    def __init__(self, code: int) -> None:
        self.by = -code
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        super().__init__(f"the process {how}")


_running: dict[Hashable, PageProcess] = {}


def page_process(make: Callable[[], object], key: Hashable, limits: Limits) -> PageProcess:
    """Return this process's page process for ``key``, which says all that ``make`` is made of.

    Spark uses a Python worker for many tasks; so does the worker its page process.
    """
    if (key, limits) not in _running:
        for old in _running.values():
            old.close()
        _running.clear()
        _running[key, limits] = PageProcess(make, limits)
    return _running[key, limits]
