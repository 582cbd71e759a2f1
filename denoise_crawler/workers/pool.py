"""Worker processes for a program without an event loop: tasks have futures, a thread a process waits for it."""

from __future__ import annotations

import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent import futures
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

from denoise_crawler.errors import TaskError, WorkerDiedError, WorkerError
from denoise_crawler.page.text import hash64
from denoise_crawler.workers.process import (
    LENGTH,
    NO_LIMITS,
    PATIENCE_SECONDS,
    POLL_SECONDS,
    START_SECONDS,
    Begin,
    Call,
    Done,
    Limits,
    Line,
    death_error,
    decode,
    encode,
    start_with_script,
)

if TYPE_CHECKING:
    from typing_extensions import Self

Given = ParamSpec("Given")
State = TypeVar("State")
Result = TypeVar("Result")

_TASKS_AHEAD_PER_WORKER = 4


class Task(NamedTuple):
    """A task for :meth:`Workers.run`: a function, its arguments behind the state, its worker's number (None: any).

    ``about`` says in an error what the worker had in hand.
    """

    function: Callable[..., Any]
    given: tuple[Any, ...] = ()
    worker: int | None = None
    about: str = ""


Run = Callable[[Iterable[Task]], Iterator[Any]]


class _Process:
    """A process that is running, and its socket."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = start_with_script(theirs)
            except OSError as error:
                self._socket.close()
                raise WorkerDiedError(f"no worker process can be started: {error}") from None

    def do(self, message: bytes, limits: Limits) -> Done:
        """Have an encoded task done; raise WorkerDiedError if the process dies of it or takes too long."""
        try:
            return self._do(message, time.monotonic() + limits.clock if limits.clock else None)
        except TimeoutError:
            self.kill()
            raise death_error(self.end(), limits, over_clock=True) from None
        except (EOFError, OSError):
            raise death_error(self.end(), limits) from None

    def kill(self) -> None:
        """End the process at once; a task in hand has no result."""
        self._process.kill()

    def end(self) -> int:
        """Close the socket, on which the process ends; return its exit code."""
        self._socket.close()
        for _ in range(int(PATIENCE_SECONDS / POLL_SECONDS)):
            if (code := self._process.exitcode) is not None:
                break
            time.sleep(POLL_SECONDS)
        else:
            self._process.kill()
        self._process.join()
        return code if code is not None else int(self._process.exitcode)

    def _do(self, message: bytes, deadline: float | None) -> Done:
        self._wait_until(deadline)
        self._socket.sendall(message)
        [length] = LENGTH.unpack(self._receive(LENGTH.size, deadline))
        done: Done = decode(self._receive(length, deadline))
        return done

    def _receive(self, size: int, deadline: float | None) -> bytearray:
        data, received = bytearray(size), 0
        view = memoryview(data)
        while received < size:
            self._wait_until(deadline)
            if not (more := self._socket.recv_into(view[received:])):
                raise EOFError
            received += more
        return data

    def _wait_until(self, deadline: float | None) -> None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)


class Worker(Generic[State]):
    """A process that runs tasks: functions whose first argument is the state, such as its methods.

    The process starts with the first task. If it dies, the next task starts another with a new state.

    Args:
        make: Makes the state, in the process. It must be picklable, and so must arguments and results.
        limits: The limits of one task.
        tries: How often a task is tried whose process dies. A task that exceeds its time is not tried again.

    Example:
        >>> with Worker(list) as worker:
        ...     worker.call(list.append, "page")
        ...     worker.submit(len).result()
        1
    """

    def __init__(self, make: Callable[[], State], limits: Limits = NO_LIMITS, *, tries: int = 1) -> None:
        self._limits, self._tries = limits, tries
        self._start_limits = replace(limits, clock=max(limits.clock, START_SECONDS) if limits.clock else 0.0)
        self._begin = Begin(partial(_make_alone, make), limits)
        self._process: _Process | None = None
        self._on_start: list[Call] = []  # of each process
        self._before_next: list[Begin | Call] = []  # before the next task
        self._is_closed = False
        self._lock = Lock()
        self._thread = futures.ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(
        self, function: Callable[Concatenate[State, Given], Result], *given: Given.args, **named: Given.kwargs
    ) -> Result:
        """Run ``function`` in the process and return its result.

        Raises:
            TaskError: The function raised.
            WorkerDiedError: The process died in each try, or the task took too long.
        """
        task = Call(function, given, named)
        for _ in range(self._tries - 1):
            try:
                return self._try(task)  # type: ignore[no-any-return]
            except WorkerDiedError as error:
                if error.too_long:
                    raise
        return self._try(task)  # type: ignore[no-any-return]

    def submit(
        self, function: Callable[Concatenate[State, Given], Result], *given: Given.args, **named: Given.kwargs
    ) -> Future[Result]:
        """Queue ``function`` and return a future of its result."""
        return self._thread.submit(partial(self.call, function, *given, **named))

    def prepare(
        self, function: Callable[Concatenate[State, Given], Any], *given: Given.args, **named: Given.kwargs
    ) -> None:
        """Run ``function`` before the next :meth:`call`, and at the start of each later process."""
        self._on_start = [Call(function, given, named)]
        self._before_next = [*(due for due in self._before_next if due is self._begin), *self._on_start]

    def close(self) -> None:
        """End the process at once and cancel the queued tasks."""
        with self._lock:
            self._is_closed = True
            if self._process is not None:
                self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        self._end()

    def _try(self, task: Call) -> Any:
        process = self._running()
        while self._before_next:
            self._run_task(process, self._before_next[0])
            del self._before_next[0]
        return self._run_task(process, task)

    def _running(self) -> _Process:
        with self._lock:
            if self._is_closed:
                raise futures.CancelledError
            if self._process is None:
                self._process = _Process()
                self._before_next = [self._begin, *self._on_start]
            return self._process

    def _run_task(self, process: _Process, task: Begin | Call) -> Any:
        message = encode(task)
        try:
            done = process.do(message, self._limits if isinstance(task, Call) else self._start_limits)
        except BaseException:  # also an interrupt: its answer must not be taken for that of the next task
            self._end()
            raise
        if done.error:
            raise TaskError(done.error)
        return done.result

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()


class Workers(Generic[State]):
    """Several workers. A task may name its worker; the tasks of a worker run one after the other.

    Args:
        make: Makes the state of a worker from its number, in its process.
        count: The number of workers.
        limits: The limits of one task.
    """

    def __init__(self, make: Callable[[int], State], count: int, limits: Limits = NO_LIMITS) -> None:
        self._workers = [Worker(partial(make, number), limits) for number in range(count)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with futures.ThreadPoolExecutor(len(self._workers)) as closing:
            list(closing.map(Worker.close, self._workers))

    def run(self, tasks: Iterable[Task]) -> Iterator[Any]:
        """Run tasks and yield their results in order; few tasks are taken ahead.

        Raises:
            WorkerError: A task has no result. The tasks behind it are not run.
        """
        ahead: deque[tuple[int, Task, Future[Any]]] = deque()
        for task in tasks:
            number = task.worker
            if number is None:
                busy = Counter(one for one, _, future in ahead if not future.done())
                number = min(range(len(self._workers)), key=busy.__getitem__)
            ahead.append((number, task, self._workers[number].submit(task.function, *task.given)))
            while ahead and (ahead[0][2].done() or len(ahead) >= _TASKS_AHEAD_PER_WORKER * len(self._workers)):
                yield _result_of(*ahead.popleft()[1:])
        while ahead:
            yield _result_of(*ahead.popleft()[1:])


@contextmanager
def running(make: Callable[[int], State], count: int, end: Callable[[State], Any]) -> Iterator[Run]:
    """Have tasks run by ``count`` workers, or in this process if it is one.

    Yield a function that runs tasks as :meth:`Workers.run` does. ``end`` ends a state that was made here.

    Example:
        >>> with running(lambda number: [number], 1, list.clear) as run:
        ...     list(run([Task(list.append, ("page",)), Task(len)]))
        [None, 2]
    """
    if count > 1:
        with Workers(make, count) as workers:
            yield workers.run
        return
    alone = make(0)
    try:
        yield lambda tasks: (task.function(alone, *task.given) for task in tasks)
    finally:
        end(alone)


def side_by_side(runs: Iterable[Generator[Future[Any], None, None]], at_a_time: int) -> None:
    """Run generators, which yield the futures that they wait for, to their end, some ``at_a_time``."""
    to_come = iter(runs)
    waiting: dict[Future[Any], Generator[Future[Any], None, None]] = {}

    def go_on(run: Generator[Future[Any], None, None]) -> None:
        for future in islice(run, 1):
            waiting[future] = run

    try:
        while True:
            while len(waiting) < at_a_time and (run := next(to_come, None)) is not None:
                go_on(run)
            if not waiting:
                return
            for done in futures.wait(waiting, return_when=futures.FIRST_COMPLETED).done:
                go_on(waiting.pop(done))
    finally:
        for run in waiting.values():
            run.close()


def worker_number(name: str, workers: int) -> int:
    """Return the number of the worker that handles a site or a URL."""
    return hash64(name) % workers


def _make_alone(make: Callable[[], State], _: Line) -> State:
    return make()


def _result_of(task: Task, future: Future[Any]) -> Any:
    try:
        return future.result()
    except WorkerError as error:
        error.about = task.about
        raise
