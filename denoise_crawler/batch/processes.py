"""Tasks done by several processes, each with an object of its own, their results in order."""

from __future__ import annotations

import signal
import sys
import traceback
from collections import deque
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from types import TracebackType

    from typing_extensions import Self

_TASKS_AHEAD = 4  # a process
_SECONDS_TO_END = 10.0


class BatchError(Exception):
    """The work cannot go on: a process died, or a disk is full; the message says what happened."""


class Task(NamedTuple):
    """A method of the object by name, with its argument; ``number`` is the process that must do it, None for any.

    ``about`` says what it is about, should the process die over it.
    """

    name: str
    argument: Any
    number: int | None = None
    about: str = ""


class Closable(Protocol):
    """What does tasks: an object whose methods take one argument."""

    def close(self) -> None:
        """Let go of files."""


class Crew(Protocol):
    """One or several objects that do tasks."""

    def run(self, tasks: Iterator[Task]) -> Iterator[Any]:
        """Do the tasks and yield what they return, in order."""


@contextmanager
def crew(make: Callable[[int], Closable], count: int) -> Iterator[Crew]:
    """Make ``count`` objects and have them do tasks: each in a process of its own; one alone in this process.

    ``make(number)`` must be picklable. On leaving, the processes end: after an error, at once.
    """
    if count == 1:
        with closing(make(0)) as alone:
            yield _Alone(alone)
    else:
        with _Processes(make, count) as processes:
            yield processes


def told(error: Exception) -> str:
    """Return what an error is and where it was raised, in a line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"


@dataclass(frozen=True, slots=True)
class _Alone:
    object: Closable

    def run(self, tasks: Iterator[Task]) -> Iterator[Any]:
        for task in tasks:
            yield getattr(self.object, task.name)(task.argument)


class _Process:
    """A process and the pipe to it. It is given a task only when it waits for one, so no pipe can fill up."""

    def __init__(self, make: Callable[[int], Closable], number: int) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, make, number), name=f"denoise-{number}", daemon=True
        )
        self._process.start()
        theirs.close()
        self.queue: deque[tuple[int, Task]] = deque()
        self.doing: tuple[int, Task] | None = None

    @property
    def connection(self) -> Connection:
        return self._connection

    def start(self, number: int, task: Task) -> None:
        self.doing = (number, task)
        try:
            self._connection.send((task.name, task.argument))
        except OSError:
            raise self._died() from None

    def result(self) -> tuple[int, Any]:
        try:
            outcome = self._connection.recv()
        except (EOFError, OSError):
            raise self._died() from None
        if isinstance(outcome, _Failure):
            raise BatchError(f"a worker process failed: {outcome.what}")
        assert self.doing is not None  # noqa: S101
        (number, _), self.doing = self.doing, None
        return number, outcome

    def let_go(self, *, at_once: bool) -> None:
        self._connection.close()  # one that waits for a task ends by itself
        if at_once:
            self._process.terminate()

    def end(self) -> None:
        self._process.join(_SECONDS_TO_END)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()

    def _died(self) -> BatchError:
        self._process.join(_SECONDS_TO_END)
        code = self._process.exitcode
        how = (
            f"was killed by {signal.Signals(-code).name}" if code and code < 0 else f"ended with exit code {code}"
        )
        about = self.doing[1].about if self.doing else ""
        return BatchError(
            f"worker process {self._process.pid} {how}" + (f"; it had {about} in hand" if about else "")
        )


class _Processes:
    def __init__(self, make: Callable[[int], Closable], count: int) -> None:
        self._processes: list[_Process] = []
        self._for_any: deque[tuple[int, Task]] = deque()
        self._done: dict[int, Any] = {}
        try:
            with _no_interrupts():  # they start with Ctrl-C blocked: it is this process that ends them
                for number in range(count):
                    self._processes.append(_Process(make, number))
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.let_go(at_once=kind is not None)
        for process in self._processes:
            process.end()

    def run(self, tasks: Iterator[Task]) -> Iterator[Any]:
        ahead = _TASKS_AHEAD * len(self._processes)
        taken = due = 0
        more = True
        while more or due < taken:
            if more and taken - due < ahead:
                task = next(tasks, None)
                if task is None:
                    more = False
                    continue
                queue = self._for_any if task.number is None else self._processes[task.number].queue
                queue.append((taken, task))
                taken += 1
            # with tasks to take there is no waiting, unless there are enough of them
            self._exchange(wait_for_one=due not in self._done and not (more and taken - due < ahead))
            while due in self._done:
                yield self._done.pop(due)
                due += 1

    def _exchange(self, *, wait_for_one: bool) -> None:
        """Hand out tasks and take results."""
        self._hand_out()
        busy = [process for process in self._processes if process.doing]
        ready = wait([process.connection for process in busy], None if wait_for_one else 0)
        for process in busy:
            if process.connection in ready:
                number, result = process.result()
                self._done[number] = result
        self._hand_out()

    def _hand_out(self) -> None:
        for process in self._processes:
            queue = process.queue or self._for_any
            if process.doing is None and queue:
                process.start(*queue.popleft())


@dataclass(frozen=True, slots=True)
class _Failure:
    what: str


def _serve(connection: Connection, make: Callable[[int], Closable], number: int) -> None:
    """Do tasks until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with closing(make(number)) as mine:
        while True:
            try:
                name, argument = connection.recv()
                connection.send(_outcome(mine, name, argument))
            except (EOFError, OSError):
                return


def _outcome(mine: Closable, name: str, argument: Any) -> Any:
    try:
        return getattr(mine, name)(argument)
    except Exception as error:  # a full disk, no memory: the other end reports it
        return _Failure(told(error))


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Keep Ctrl-C waiting, for this thread and the processes that it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
