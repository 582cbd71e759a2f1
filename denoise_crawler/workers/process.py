"""What runs in a worker process: one thread reads the socket, the other does the tasks, one after the other.

So the process ends as soon as its socket does, also in the middle of a task. Both ends are ours: messages are
pickled, each with its length in front, in eight bytes.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.spawn import get_executable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple, NoReturn

from denoise_crawler.errors import WorkerDiedError, describe_error

OVER_TIME = getattr(signal, "SIGPROF", 0)  # 0: a system without it
LENGTH = struct.Struct("!Q")


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


class Begin(NamedTuple):
    """The first task of a process: make its state. That has no limit of CPU time, because imports are slow."""

    make: Callable[[Line], Any]
    limits: Limits


class Call(NamedTuple):
    """A task: a function to call with the state of the process and what is given."""

    function: Callable[..., Any]
    given: tuple[Any, ...]
    named: dict[str, Any]


class Done(NamedTuple):
    """The answer to a task: its result, or the error in words, because not every error can be pickled."""

    result: Any
    error: str


class Reply(NamedTuple):
    """The reply to a question that a process asked while it did a task."""

    value: Any


def encode(message: object) -> bytes:
    """Return a message as bytes, with its length in front."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


def decode(data: bytes | bytearray) -> Any:
    """Return the message that ``data`` holds, without its length."""
    return pickle.loads(data)  # noqa: S301 - from a process of ours


class Line:
    """The worker's end of the socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket, self._sending = connected, Lock()
        self._file = connected.makefile("rb")
        self._tasks: SimpleQueue[Begin | Call] = SimpleQueue()
        self._replies: SimpleQueue[Reply] = SimpleQueue()
        Thread(target=self._read_all, daemon=True).start()

    def send(self, message: object) -> None:
        """Send a message."""
        self.send_encoded(encode(message))

    def send_encoded(self, data: bytes) -> None:
        """Send a message that is encoded."""
        with self._sending:
            self._socket.sendall(data)

    def ask(self, question: object) -> Any:
        """Send a question and return what is replied."""
        self.send(question)
        return self._replies.get().value

    def task(self) -> Begin | Call:
        """Return the next task."""
        return self._tasks.get()

    def _read_all(self) -> None:
        try:
            while True:
                message = self._read()
                is_task = isinstance(message, (Begin, Call))
                (self._tasks if is_task else self._replies).put(message)
        finally:  # the other process has ended, or was killed
            os._exit(0)

    def _read(self) -> Any:
        [length] = LENGTH.unpack(self._file.read(LENGTH.size))
        data = self._file.read(length)
        try:
            return decode(data)
        except Exception as error:  # such as a function that cannot be imported here
            return Call(_raise, (error,), {})


def _raise(_: object, error: Exception) -> NoReturn:
    raise error


class _Server:
    """Does the tasks of a process."""

    def __init__(self, line: Line) -> None:
        self._line, self._state, self._seconds = line, None, 0.0

    def answer(self, task: Begin | Call) -> bytes:
        """Do a task within its limits; return the answer, encoded."""
        _limit_time(self._seconds)
        try:
            return encode(Done(self._do(task), ""))
        except (Exception, SystemExit) as error:
            return encode(Done(None, describe_error(error)))
        finally:
            _limit_time(0)

    def _do(self, task: Begin | Call) -> Any:
        if isinstance(task, Call):
            return task.function(self._state, *task.given, **task.named)
        _limit_memory(task.limits.memory)
        self._state = task.make(self._line)
        self._seconds = task.limits.seconds
        return None


def main(connected: socket.socket) -> None:
    """Do tasks until the socket ends."""
    _limit_signals()
    line = Line(connected)
    server = _Server(line)
    while True:
        line.send_encoded(server.answer(line.task()))


def inherited_socket(number: int) -> socket.socket:
    """Return the socket that this process was started with: of this number, or (-1) told by the standard input."""
    import socket

    return socket.socket(fileno=number) if number >= 0 else socket.fromshare(sys.stdin.buffer.read())  # type: ignore[attr-defined, unused-ignore]


def _limit_signals() -> None:
    """Let SIGTERM and the end of the CPU time kill this process, also inside a library that never comes back."""
    _limit_time(0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if OVER_TIME:
        signal.signal(OVER_TIME, signal.SIG_DFL)


def _limit_memory(size: int) -> None:
    """Limit the bytes that this process may hold; 0 is no limit."""
    if size:
        with suppress(ImportError, OSError, ValueError):  # a system that does not count it, or allows less
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (size, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _limit_time(seconds: float) -> None:
    if OVER_TIME:
        signal.setitimer(signal.ITIMER_PROF, seconds)


# --- how a worker process is started, and what is said of its end

_CODE = (
    "import sys; sys.path[:] = {path!r}\n"
    "from denoise_crawler.workers.process import inherited_socket, main\n"
    "main(inherited_socket({number}))"
)
_SPAWN: Any = multiprocessing.get_context("spawn")  # no fork: it must not keep the files and sockets of its parent
POLL_SECONDS = 0.01
START_SECONDS = 120.0  # imports are slow on a busy machine
PATIENCE_SECONDS = 2.0  # for a process whose socket is closed; then it is killed


def start_with_script(theirs: socket.socket) -> Any:
    """Start a process that can import the functions of the user's script, as ``multiprocessing`` does it."""
    process = _SPAWN.Process(target=main, args=(theirs,), daemon=True)
    resource_tracker.ensure_running()  # where start() has to start it, it lets Ctrl-C through again
    with _no_interrupts():
        process.start()
    return process


def start_bare(theirs: socket.socket) -> subprocess.Popen[bytes]:
    """Start a new Python, in which the user's script is not run again. It ends when its socket does.

    Raises:
        OSError: The system allows no more processes or files.
    """
    is_windows, python = os.name == "nt", os.fsdecode(get_executable() or sys.executable)
    code = _CODE.format(path=sys.path, number=-1 if is_windows else theirs.fileno())
    with _no_interrupts():
        if not is_windows:
            command = [python, "-c", code]
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])  # noqa: S603
        group = subprocess.CREATE_NEW_PROCESS_GROUP  # type: ignore[attr-defined, unused-ignore]
        process = subprocess.Popen([python, "-c", code], stdin=subprocess.PIPE, creationflags=group)  # noqa: S603
    assert process.stdin is not None  # noqa: S101 - as asked for
    with process.stdin as stdin:
        stdin.write(theirs.share(process.pid))  # type: ignore[attr-defined, unused-ignore]
    return process


def death_error(code: int, limits: Limits, *, over_clock: bool = False) -> WorkerDiedError:
    """Return the error of a task whose process died with this exit code, or took too long by the clock."""
    over_time = OVER_TIME > 0 and code == -OVER_TIME
    if over_clock:
        how = f"took more than {limits.clock:g} s"
    elif over_time:
        how = f"took more than {limits.seconds:g} s of CPU time"
    elif code < 0:
        how = f"the process was killed by {signal.Signals(-code).name}"
    else:
        how = f"the process ended with exit code {code}"
    error = WorkerDiedError(how)
    error.too_long = over_clock or over_time
    error.killed = code < 0 and not error.too_long
    return error


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl-C in the processes started inside the block: this process ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
