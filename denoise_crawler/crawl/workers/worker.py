"""One worker process as the crawl sees it: tasks in their order, restarts, the limits of a task."""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from denoise_crawler.batch.process import death_error
from denoise_crawler.crawl.workers.connection import Connection, exit_code, start_process
from denoise_crawler.crawl.workers.messages import Ask, Begin, Done, Keep, Kept, Known, Logged, Ready, Task
from denoise_crawler.crawl.workers.page_window import PageWindow
from denoise_crawler.errors import AskAgainError, TaskError, WorkerError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from denoise_crawler.batch.workers import Limits

_MAX_FAILED_STARTS = 3
_START_SECONDS = 120.0  # imports are slow on a busy machine


class NoWorkerError(WorkerError):
    """No worker process can be started; the message says why."""


class Crawl(Protocol):
    """What a worker needs of its crawl."""

    def known(self, site: str) -> bytes | None:
        """Return what is known of ``site``."""

    def keep(self, site: str, known: bytes) -> bool:
        """Keep what is ``known`` of ``site``; return whether that worked."""

    def log(self, line: Logged) -> None:
        """Log a line."""

    def count_seconds(self, seconds: dict[str, float]) -> None:
        """Count the seconds of a task, by stage."""


class _Waiting(NamedTuple):
    """A task that has no result yet; ``make`` makes its message for the process that is there."""

    make: Callable[[PageWindow[None]], Task]
    result: asyncio.Future[Any]


class Worker:
    """A process that does tasks in their order. It starts with the first task.

    If it dies, the task in hand fails, and the others have to be asked for again, of a new process.

    Args:
        begin: The first message to each process.
        limits: The limits of a task.
        crawl: What the process may ask for.
        on_death: Called when a process that had begun is gone.
    """

    def __init__(self, begin: Begin, limits: Limits, crawl: Crawl, on_death: Callable[[Worker], None]) -> None:
        self._begin, self._limits, self._crawl, self._on_death = begin, limits, crawl, on_death
        self._waiting: deque[_Waiting] = deque()
        self._connection: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._living: asyncio.Task[None] | None = None
        self._has_begun = self._is_closing = self._is_late = False
        self._failed_starts = 0
        self._window = PageWindow[None]()
        self._head_since = 0.0

    @property
    def has_process(self) -> bool:
        """Whether a process runs."""
        return self._connection is not None

    async def do(self, make: Callable[[PageWindow[None]], Task]) -> Any:
        """Have a task done and return its result.

        Args:
            make: Returns the task for a process that has the pages of a window; called once for each process.

        Raises:
            TaskError: The task raised.
            WorkerDiedError: The process died of it, or it took too long.
            AskAgainError: The process died of another task.
            NoWorkerError: No process can be started.
        """
        if self._connection is not None:
            self._connection.send(make(self._window))
        waiting = _Waiting(make, asyncio.get_running_loop().create_future())
        if not self._waiting:
            self._head_since = monotonic()
        self._waiting.append(waiting)
        if self._living is None:
            self._living = asyncio.ensure_future(self._live())
        return await waiting.result

    async def close(self) -> None:
        """End the process."""
        self._is_closing = True
        if self._connection is not None:
            self._connection.close()
        if self._living is not None:
            await self._living
        self._give_up("the crawl has ended")

    async def _live(self) -> None:
        """Start a process, and another when that dies, as long as there are tasks."""
        try:
            while not self._is_closing:
                await self._live_once()
                if not self._waiting:
                    return
        except Exception as error:  # a mistake of ours must not let the crawl wait for ever
            self._give_up(f"{type(error).__name__}: {error}")
        finally:
            self._living = None

    async def _live_once(self) -> None:
        self._has_begun = self._is_late = False
        self._window = PageWindow()
        try:
            self._process, connection = await start_process(self._heard)
        except OSError as error:
            self._fail_start(str(error))
            return
        if self._is_closing:
            connection.close()
        connection.send(self._begin)
        self._connection, self._head_since = connection, monotonic()
        for waiting in self._waiting:
            connection.send(waiting.make(self._window))
        clock = asyncio.ensure_future(self._watch_clock())
        await connection.lost
        clock.cancel()
        self._connection = None
        in_hand = self._waiting[0] if self._waiting else None
        self._bury(await exit_code(self._process), in_hand)

    def _bury(self, code: int, in_hand: _Waiting | None) -> None:
        if self._is_closing:
            return
        error = death_error(code, self._limits, over_clock=self._is_late)
        if not self._has_begun:
            self._fail_start(str(error))
            return
        if in_hand is not None:
            self._answer(error=error)
        self._on_death(self)
        while self._waiting:
            self._answer(error=AskAgainError(str(error)))

    def _fail_start(self, why: str) -> None:
        self._failed_starts += 1
        if self._failed_starts >= _MAX_FAILED_STARTS:
            self._give_up(why)

    def _give_up(self, why: str) -> None:
        while self._waiting:
            self._answer(error=NoWorkerError(f"no worker process can be started: {why}"))

    async def _watch_clock(self) -> None:
        """End the process when a task takes too long by the clock, as one that waits for something."""
        while self._limits.clock:
            longest = self._limits.clock if self._has_begun else _START_SECONDS
            await asyncio.sleep(min(longest, self._limits.clock) / 4)
            if self._waiting and monotonic() - self._head_since > longest:
                self._is_late = True
                assert self._process is not None  # noqa: S101 - it is watched
                self._process.kill()

    def _heard(self, message: Any) -> None:
        if isinstance(message, Done):
            self._crawl.count_seconds(message.seconds)
            error = TaskError(message.error) if message.error else None
            self._answer(message.result, error)
        elif isinstance(message, Ask):
            assert self._connection is not None  # noqa: S101 - it was heard by it
            self._connection.send(Known(self._crawl.known(message.site)))
        elif isinstance(message, Keep):
            assert self._connection is not None  # noqa: S101 - it was heard by it
            self._connection.send(Kept(self._crawl.keep(message.site, message.known)))
        elif isinstance(message, Logged):
            self._crawl.log(message)
        elif isinstance(message, Ready):
            self._has_begun, self._failed_starts, self._head_since = True, 0, monotonic()

    def _answer(self, result: Any = None, error: Exception | None = None) -> None:
        """Give the first task that waits its result."""
        future = self._waiting.popleft().result
        self._head_since = monotonic()
        if future.done():  # who asked is gone
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
