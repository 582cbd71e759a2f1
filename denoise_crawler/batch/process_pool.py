"""Worker processes with limits: a task that never ends, eats memory or kills its process costs itself alone."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from threading import Lock
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

from denoise_crawler.errors import TaskError, WorkerDiedError, WorkerError, describe_error

if TYPE_CHECKING:
    from typing_extensions import Self

Arguments = ParamSpec("Arguments")
State = TypeVar("State")
Result = TypeVar("Result")

_OUT_OF_TIME = getattr(signal, "SIGPROF", 0)  # 0: a system without it
_SPAWN: Any = multiprocessing.get_context("spawn")  # no fork: it must not keep the files and sockets of its parent
_SECONDS_TO_EXIT = 2.0  # for a process that has closed its pipe; then it is killed
_TASKS_AHEAD = 32  # of each worker
_TASKS_WAITING = 8  # for a busy worker, before a task that may go to any other does


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


class Worker(Generic[State]):
    """A process that runs tasks one at a time: functions whose first argument is the state of the process.

    The process starts with the first task. If it dies, the next task starts another, with a new state.

    Args:
        make: Makes the state, in the process. It must be picklable, and so must arguments and results.
        limits: The limits of one task.
        tries: How often a task is tried whose process dies. A task that exceeds its time is not tried again.

    Attributes:
        on_start: Functions and their arguments, which each new process calls first: they restore its state.

    Example:
        >>> with Worker(list) as worker:
        ...     worker.call(list.append, "page")
        ...     worker.call(len)
        1
    """

    def __init__(self, make: Callable[[], State], limits: Limits = NO_LIMITS, *, tries: int = 1) -> None:
        self._make, self._limits, self._tries = make, limits, tries
        self.on_start: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self._process: _Process | None = None
        self._is_closed = False
        self._lock = Lock()  # close() may be called by another thread than call()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(
        self,
        function: Callable[Concatenate[State, Arguments], Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Run ``function`` in the process and return its result.

        Raises:
            TaskError: The function raised.
            WorkerDiedError: The process died in each try, or the task took too long.
            WorkerError: No process can be started.
        """
        for _ in range(self._tries - 1):
            try:
                return self._try(function, arguments, named)  # type: ignore[no-any-return]
            except WorkerDiedError as error:
                if error.too_long:
                    raise
        return self._try(function, arguments, named)  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the process at once; a task under way has no result."""
        with self._lock:
            self._is_closed = True
            if self._process is not None:
                self._process.kill()

    def _try(self, *task: Any) -> Any:
        with self._lock:
            if self._is_closed:
                raise CancelledError
            if is_new := self._process is None:
                self._process = _Process(self._make, self._limits)
            process = self._process
        try:
            for function, arguments in self.on_start if is_new else ():
                process.run((function, arguments, {}))
            return process.run(task)
        except TaskError:
            raise
        except BaseException:  # also an interrupt: the next task must not get the result of this one
            process.end()
            self._process = None
            raise


class _Process:
    """A running process, at the other end of a pipe."""

    def __init__(self, make: Callable[[], Any], limits: Limits) -> None:
        self._limits = limits
        self._pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(theirs, make, limits), daemon=True)
        resource_tracker.ensure_running()  # where start() has to start it, it lets Ctrl-C through again
        try:
            with _no_interrupts():
                self._process.start()
            theirs.close()
            problem = self._pipe.recv()
        except (EOFError, OSError) as error:
            why = str(error) or str(self._death(over_clock=False))
            raise WorkerError(f"no worker process can be started: {why}") from None
        if problem:
            self.end()
            raise TaskError(problem)

    def run(self, task: Any) -> Any:
        """Run a task and return its result; raise WorkerDiedError if the process dies of it or takes too long."""
        try:
            self._pipe.send_bytes(pickle.dumps(task))
            if not self._pipe.poll(self._limits.clock or None):
                raise self._death(over_clock=True)
            result, problem = self._pipe.recv()
        except (EOFError, OSError):
            raise self._death(over_clock=False) from None
        if problem:
            raise TaskError(problem)
        return result

    def kill(self) -> None:
        """End the process at once. Whoever waits for a task gets an end of file from the pipe."""
        self._process.kill()
        self._process.join()

    def end(self) -> None:
        """Kill the process and close its pipe."""
        self.kill()
        self._pipe.close()

    def _death(self, *, over_clock: bool) -> WorkerDiedError:
        """End the process and return the error that says how it died, or that it took too long by the clock."""
        self._process.join(0 if over_clock else _SECONDS_TO_EXIT)
        self.end()
        code = self._process.exitcode or 0
        over_time = _OUT_OF_TIME > 0 and code == -_OUT_OF_TIME
        if over_clock:
            how = f"took more than {self._limits.clock:g} s"
        elif over_time:
            how = f"took more than {self._limits.seconds:g} s of CPU time"
        elif code < 0:
            how = f"the process was killed by {signal.Signals(-code).name}"
        else:
            how = f"the process ended with exit code {code}"
        error = WorkerDiedError(how)
        error.too_long = over_clock or over_time
        return error


def _serve(pipe: Connection, make: Callable[[], Any], limits: Limits) -> None:
    """Make the state, say what went wrong with it, and run tasks until the other end of the pipe is closed."""
    _limit_memory(limits.memory)
    state, problem = None, ""
    try:
        state = make()
    except Exception as error:
        problem = describe_error(error)
    gc.freeze()  # modules live as long as the process: no collection need look at them
    with suppress(EOFError, OSError):
        pipe.send(problem)
        while True:
            task = pipe.recv_bytes()
            _limit_time(limits.seconds)
            pipe.send_bytes(_answer(state, task))


def _answer(state: Any, task: bytes) -> bytes:
    """Return a task's result, or the error in words: not every error can be pickled."""
    try:
        function, arguments, named = pickle.loads(task)  # noqa: S301 - from the process that started this one
        return pickle.dumps((function(state, *arguments, **named), ""))
    except (Exception, SystemExit) as error:
        return pickle.dumps((None, describe_error(error)))
    finally:
        _limit_time(0)


def _limit_memory(size: int) -> None:
    if size:
        with suppress(ImportError, OSError, ValueError):  # a system that does not count it, or allows less
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (size, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _limit_time(seconds: float) -> None:
    """Have the system end this process after ``seconds`` of CPU time, also in a library that never returns."""
    if _OUT_OF_TIME:
        signal.setitimer(signal.ITIMER_PROF, seconds)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl-C in the processes started inside the block: their parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- many tasks on several workers


class Caller(Protocol):
    """A :class:`Worker`, or :class:`ThisProcess` in its place."""

    on_start: list[tuple[Callable[..., Any], tuple[Any, ...]]]

    def call(self, function: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
        """Run ``function`` with the state, and return its result."""


class ThisProcess(Generic[State]):
    """Runs tasks in this process, without limits."""

    def __init__(self, make: Callable[[], State]) -> None:
        self.on_start: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self.state = make()

    def call(self, function: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
        """Run ``function`` with the state, and return its result."""
        return function(self.state, *arguments, **named)


class Task(NamedTuple):
    """A task: what to do with a worker; which worker (None: any), and whether another will do if that is busy."""

    work: Callable[[Caller], Any]
    worker: int | None = None
    may_move: bool = False


@contextmanager
def open_workers(
    make: Callable[[], State],
    count: int,
    limits: Limits = NO_LIMITS,
    *,
    tries: int = 1,
    end: Callable[[State], Any] = lambda _: None,
    isolated: bool = False,
) -> Iterator[Sequence[Caller]]:
    """Yield ``count`` workers, or this process in place of one, and end them.

    Args:
        make: Makes the state of a worker.
        count: How many workers.
        limits: The limits of a task, where it runs in another process.
        tries: As of a :class:`Worker`.
        end: Closes a state that was made in this process.
        isolated: Whether one worker is a process of its own, too.

    Example:
        >>> with open_workers(list, 1) as workers:
        ...     [worker.call(len) for worker in workers]
        [0]
    """
    if count == 1 and not isolated:
        here = ThisProcess(make)
        try:
            yield [here]
        finally:
            end(here.state)
        return
    workers = [Worker(make, limits, tries=tries) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.close()


def run_in_order(tasks: Iterable[Task], workers: Sequence[Caller]) -> Iterator[Any]:
    """Run tasks on workers and yield the results in the order of the tasks, of which few are read ahead.

    A task that raises ends the run.
    """
    if len(workers) == 1:
        yield from (task.work(workers[0]) for task in tasks)
        return
    threads = [ThreadPoolExecutor(1) for _ in workers]
    ahead: deque[tuple[int, Future[Any]]] = deque()
    try:
        for task in tasks:
            number = _choose_worker(task, ahead, len(workers))
            ahead.append((number, threads[number].submit(task.work, workers[number])))
            while ahead and (ahead[0][1].done() or len(ahead) >= _TASKS_AHEAD * len(workers)):
                yield ahead.popleft()[1].result()
        while ahead:
            yield ahead.popleft()[1].result()
    finally:
        for thread in threads:
            thread.shutdown(wait=False, cancel_futures=True)


def _choose_worker(task: Task, ahead: Iterable[tuple[int, Future[Any]]], count: int) -> int:
    if task.worker is not None and not task.may_move:
        return task.worker
    waiting = Counter(number for number, future in ahead if not future.done())
    if task.worker is not None and waiting[task.worker] < _TASKS_WAITING:
        return task.worker
    return min(range(count), key=waiting.__getitem__)
