"""The crawl's end of the socket to a worker process, and the start of that process."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from multiprocessing.spawn import get_executable
from typing import TYPE_CHECKING, Any

from denoise_crawler.batch.process import no_interrupts
from denoise_crawler.crawl.workers.messages import LENGTH, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable

_CODE = (
    "import sys; sys.path[:] = {path!r}\n"
    "from denoise_crawler.crawl.workers.process import inherited_socket, main\n"
    "main(inherited_socket({number}))"
)
_POLL_SECONDS = 0.01
_PATIENCE_SECONDS = 2.0


class Connection(asyncio.Protocol):
    """The socket to one process, as asyncio serves it.

    Args:
        heard: Called with each message.

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


async def start_process(heard: Callable[[Any], None]) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start a worker process.

    The process is a new Python. The event loop of the crawl is not copied into it, and the user's script is not
    run again, as ``multiprocessing`` would. Ctrl-C in a terminal does not reach it. It ends when its socket does.

    Args:
        heard: Called with each message of the process.

    Raises:
        OSError: The system allows no more processes or files.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = _popen(theirs)
        except BaseException:
            ours.close()
            raise
    ours.setblocking(False)
    _, connection = await asyncio.get_running_loop().create_connection(lambda: Connection(heard), sock=ours)
    return process, connection


def _popen(theirs: socket.socket) -> subprocess.Popen[bytes]:
    is_windows, python = os.name == "nt", os.fsdecode(get_executable() or sys.executable)
    code = _CODE.format(path=sys.path, number=-1 if is_windows else theirs.fileno())
    with no_interrupts():
        if not is_windows:
            command = [python, "-c", code]
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])  # noqa: S603
        group = subprocess.CREATE_NEW_PROCESS_GROUP  # type: ignore[attr-defined, unused-ignore]
        process = subprocess.Popen([python, "-c", code], stdin=subprocess.PIPE, creationflags=group)  # noqa: S603
    assert process.stdin is not None  # noqa: S101 - as asked for
    with process.stdin as stdin:
        stdin.write(theirs.share(process.pid))  # type: ignore[attr-defined, unused-ignore]
    return process


async def exit_code(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code of a process whose socket is closed; one that does not end is killed."""
    for _ in range(int(_PATIENCE_SECONDS / _POLL_SECONDS)):
        if (code := process.poll()) is not None:
            return code
        await asyncio.sleep(_POLL_SECONDS)
    process.kill()
    return process.wait()
