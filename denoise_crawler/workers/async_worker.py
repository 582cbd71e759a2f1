"""A worker process as an event loop sees it: tasks in their order, restarts, the limits of a task."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from denoise_crawler.errors import AskAgainError, TaskError, WorkerError
from denoise_crawler.workers.process import (
    LENGTH,
    PATIENCE_SECONDS,
    POLL_SECONDS,
    START_SECONDS,
    Begin,
    Call,
    Done,
    Reply,
    death_error,
    decode,
    encode,
    start_bare,
)

if TYPE_CHECKING:
    import subprocess

_MAX_FAILED_STARTS = 3


class NoWorkerError(WorkerError):
    """No worker process can be started; the message says why."""


class Connection(asyncio.Protocol):
    """The socket to one process, as asyncio serves it; ``heard`` is called with each message.

    Attributes:
        lost: Done when the process is gone.
    """

    def __init__(self, heard: Callable[[Any], None]) -> None:
        self._heard = heard
        self._received = bytearray()
        self._transport: Any = None
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def send(self, message: object) -> None:
        """Send a message, as soon as the process reads."""
        self._transport.write(encode(message))

    def close(self) -> None:
        """Close the socket: the process ends."""
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport (asyncio calls this)."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Pass on the messages that are complete (asyncio calls this)."""
        received, start = self._received, 0
        received += data
        while len(received) - start >= LENGTH.size:
            [length] = LENGTH.unpack_from(received, start)
            end = start + LENGTH.size + length
            if len(received) < end:
                break
            message = decode(bytes(received[start + LENGTH.size : end]))
            start = end
            self._heard(message)
        del received[:start]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Note that the process is gone (asyncio calls this)."""
        if not self.lost.done():
            self.lost.set_result(None)


class _Waiting(NamedTuple):
    """A task that has no result yet; ``make`` makes its message for the process that is there."""

    make: Callable[[], Call]
    result: asyncio.Future[Any]


class AsyncWorker:
    """A process that does tasks in their order. It starts with the first task.

    If it dies, the task in hand fails, and the others have to be asked for again, of a new process.

    Args:
        begin: The first task of each process; it has the limits of a task.
        reply: Called with what a process sends beside answers; returns the reply if that is a question.
        on_start: Called before a process starts.
        on_death: Called when a process that had begun is gone.
    """

    def __init__(
        self,
        begin: Begin,
        reply: Callable[[Any], Reply | None],
        on_start: Callable[[AsyncWorker], None],
        on_death: Callable[[AsyncWorker], None],
    ) -> None:
        self._begin, self._limits, self._reply = begin, begin.limits, reply
        self._on_start, self._on_death = on_start, on_death
        self._waiting: deque[_Waiting] = deque()
        self._connection: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._living: asyncio.Task[None] | None = None
        self._has_begun = self._is_closing = self._is_late = False
        self._why_not_begun, self._failed_starts = "", 0
        self._head_since = 0.0

    @property
    def has_process(self) -> bool:
        """Whether a process runs."""
        return self._connection is not None

    async def do(self, make: Callable[[], Call]) -> Any:
        """Have a task done and return its result; it is made once for each process that gets it.

        Raises:
            TaskError: The task raised.
            WorkerDiedError: The process died of it, or it took too long.
            AskAgainError: The process died of another task.
            NoWorkerError: No process can be started.
        """
        if self._connection is not None:
            self._connection.send(make())
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
        self._why_not_begun = ""
        self._on_start(self)
        try:
            self._process, connection = await _start(self._heard)
        except OSError as error:
            self._fail_start(str(error))
            return
        if self._is_closing:
            connection.close()
        connection.send(self._begin)
        self._connection, self._head_since = connection, monotonic()
        for waiting in self._waiting:
            connection.send(waiting.make())
        clock = asyncio.ensure_future(self._watch_clock())
        await connection.lost
        clock.cancel()
        self._connection = None
        in_hand = self._waiting[0] if self._waiting else None
        self._bury(await _exit_code(self._process), in_hand)

    def _bury(self, code: int, in_hand: _Waiting | None) -> None:
        if self._is_closing:
            return
        error = death_error(code, self._limits, over_clock=self._is_late)
        if not self._has_begun:
            self._fail_start(self._why_not_begun or str(error))
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
            longest = self._limits.clock if self._has_begun else START_SECONDS
            await asyncio.sleep(min(longest, self._limits.clock) / 4)
            if self._waiting and monotonic() - self._head_since > longest:
                self._is_late = True
                assert self._process is not None  # noqa: S101 - it is watched
                self._process.kill()

    def _heard(self, message: Any) -> None:
        if isinstance(message, Done):
            if self._has_begun:
                self._answer(message.result, TaskError(message.error) if message.error else None)
            else:
                self._note_begun(message.error)
        elif (reply := self._reply(message)) is not None:
            assert self._connection is not None  # noqa: S101 - it was heard by it
            self._connection.send(reply)

    def _note_begun(self, error: str) -> None:
        self._why_not_begun = error
        if error:
            assert self._connection is not None  # noqa: S101 - it was heard by it
            self._connection.close()
        else:
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


async def _start(heard: Callable[[Any], None]) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start a process; the event loop serves its socket. Raise OSError if the system allows no more."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = start_bare(theirs)
        except BaseException:
            ours.close()
            raise
    ours.setblocking(False)
    _, connection = await asyncio.get_running_loop().create_connection(lambda: Connection(heard), sock=ours)
    return process, connection


async def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code of a process whose socket is closed; one that does not end is killed."""
    for _ in range(int(PATIENCE_SECONDS / POLL_SECONDS)):
        if (code := process.poll()) is not None:
            return code
        await asyncio.sleep(POLL_SECONDS)
    process.kill()
    return process.wait()
