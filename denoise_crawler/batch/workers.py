"""Worker processes: each has a state of its own, tasks have limits, and a process that dies costs only its task.

Each worker is a pool of pebble with one process, so that its state stays in place. A process that dies while it
writes into a pipe breaks only its own pool, which is replaced.
"""

from __future__ import annotations

from collections import Counter, deque
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pebble import ProcessExpired, ProcessPool

from denoise_crawler.batch.process import (
    ONE_PROCESS,
    call_with_state,
    death_error,
    no_interrupts,
    perform,
    start_process,
)
from denoise_crawler.errors import TaskError, WorkerDiedError, WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future
    from typing import Concatenate, ParamSpec

    from typing_extensions import Self

    Given = ParamSpec("Given")

State = TypeVar("State")
Result = TypeVar("Result")

_TASKS_AHEAD_PER_WORKER = 4  # of each worker
_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one task; 0 is no limit.

    Args:
        seconds: CPU time, where the system counts it (not on Windows).
        memory: Bytes that the process may hold, where the system counts them.
        clock: Seconds by the clock, for a task that waits instead of working.

    """

    seconds: float = 60.0
    memory: int = 4 << 30
    clock: float = 600.0


NO_LIMITS = Limits(0.0, 0, 0.0)


class Task(NamedTuple):
    """A function for :meth:`Workers.run`, its arguments behind the state, and its worker's number (None: any)."""

    function: Callable[..., Any]
    given: tuple[Any, ...] = ()
    worker: int | None = None
    about: str = ""


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
        self._begin = partial(start_process, make, limits.memory)
        self._pool: Any = None  # pebble does not type all of its methods
        self._current: Future[Any] | None = None
        self._on_start: list[partial[Any]] = []  # of each process
        self._before_next: list[partial[Any]] = []  # before the next task
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
        task: partial[Result] = partial(call_with_state, function, *given, **named)
        for _ in range(self._tries - 1):
            try:
                return self._try(task)
            except WorkerDiedError as error:
                if error.too_long:
                    raise
        return self._try(task)

    def submit(
        self, function: Callable[Concatenate[State, Given], Result], *given: Given.args, **named: Given.kwargs
    ) -> Future[Result]:
        """Queue ``function`` and return a future of its result."""
        return self._thread.submit(partial(self.call, function, *given, **named))

    def prepare(
        self, function: Callable[Concatenate[State, Given], Any], *given: Given.args, **named: Given.kwargs
    ) -> None:
        """Run ``function`` before the next :meth:`call`, and at the start of each later process."""
        self._on_start = [partial(call_with_state, function, *given, **named)]
        self._before_next = [*(due for due in self._before_next if due is self._begin), *self._on_start]

    def close(self) -> None:
        """End the process at once and cancel the queued tasks."""
        with self._lock:
            self._is_closed = True
            if self._current is not None:
                self._current.cancel()
        self._thread.shutdown(cancel_futures=True)
        self._end()

    def _try(self, task: partial[Result]) -> Result:
        if self._pool is None:
            self._pool = ProcessPool(1, context=ONE_PROCESS)
            self._before_next = [self._begin, *self._on_start]
        while self._before_next:
            self._run_task(self._before_next[0])
            del self._before_next[0]
        return self._run_task(task)

    def _run_task(self, task: partial[Result]) -> Result:
        try:
            outcome: tuple[Result, str] = self._outcome(task)
        except (ProcessExpired, BrokenProcessPool, futures.TimeoutError, RuntimeError) as lost:
            self._end()
            raise _death_error(lost, self._limits) from None
        if outcome[1]:
            raise TaskError(outcome[1])
        return outcome[0]

    def _outcome(self, task: partial[Result]) -> tuple[Any, str]:
        pool, limits = self._pool, self._limits
        with self._lock, no_interrupts():
            if self._is_closed:
                raise futures.CancelledError
            arguments = (task, limits.seconds)
            doing: Future[tuple[Any, str]] = pool.schedule(perform, arguments, timeout=limits.clock or None)
            self._current = doing
        while pool.active and not doing.done():
            with suppress(futures.TimeoutError):
                doing.exception(_POLL_SECONDS)
        if not doing.done():  # the pool broke before it knew of the task
            raise BrokenProcessPool
        return doing.result()

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()
            pool.join()


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


def side_by_side(jobs: Iterable[Generator[Future[Any], None, None]], at_a_time: int) -> None:
    """Run jobs to their end, some ``at_a_time``.

    Args:
        jobs: Generators; each yields the futures that it waits for.
        at_a_time: How many jobs run at the same time.

    """
    to_come = iter(jobs)
    waiting: dict[Future[Any], Generator[Future[Any], None, None]] = {}

    def go_on(job: Generator[Future[Any], None, None]) -> None:
        for future in islice(job, 1):
            waiting[future] = job

    try:
        while True:
            while len(waiting) < at_a_time and (job := next(to_come, None)) is not None:
                go_on(job)
            if not waiting:
                return
            for done in futures.wait(waiting, return_when=futures.FIRST_COMPLETED).done:
                go_on(waiting.pop(done))
    finally:
        for job in waiting.values():
            job.close()


def _result_of(task: Task, future: Future[Any]) -> Any:
    try:
        return future.result()
    except WorkerError as error:
        error.about = task.about
        raise


def _death_error(lost: Exception, limits: Limits) -> WorkerDiedError:
    code = lost.exitcode if isinstance(lost, ProcessExpired) else None
    return death_error(code, limits, over_clock=isinstance(lost, futures.TimeoutError))
