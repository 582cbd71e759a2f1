"""How a worker process is started, and what is said of its end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.spawn import get_executable
from typing import Any

from denoise_crawler.errors import WorkerDiedError
from denoise_crawler.workers.process import OVER_TIME, Limits, main

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
