"""Web servers that keep who asks waiting, each in its own way."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROBOTS = "/robots.txt"
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_NO_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Shape(NamedTuple):
    """How a server is slow: how its answer begins, and what it sends again and again, without end."""

    beginning: bytes
    again: bytes


SHAPES = {
    "a header byte by byte": Shape(_OK + b"X: ", b"a"),
    "endless 1xx answers": Shape(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "an endless chunk extension": Shape(_OK + b"Transfer-Encoding: chunked\r\n\r\n5;x=", b"a"),
    "a body byte by byte": Shape(_OK + b"\r\n<p>", b"a"),
    "no answer": Shape(b"", b""),
}


class SlowServer(NamedTuple):
    """Where it is, without a slash at the end, the paths it was asked for, and two events.

    ``waiting`` is set when it keeps somebody waiting, ``left`` when somebody it kept waiting has gone.
    """

    url: str
    asked: list[str]
    waiting: threading.Event
    left: threading.Event


@contextmanager
def slow_server(shape: Shape, *, robots: bool, gap: float = 0.02) -> Iterator[SlowServer]:
    """Serve slowly.

    Args:
        shape: In which way.
        robots: Whether robots.txt is as slow as all the rest; if not, there is none.
        gap: The seconds before what is sent again.

    """
    asked: list[str] = []
    ended, waiting, left = threading.Event(), threading.Event(), threading.Event()

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(gap)
            said = _request(client, ended)
            path = said.split(b" ")[1].decode() if said.startswith(b"GET ") else ""
            asked.append(path)
            if path == ROBOTS and not robots:
                client.sendall(_NO_ROBOTS)
                return
            client.sendall(shape.beginning)
            waiting.set()
            while not ended.is_set() and not _has_left(client):
                client.sendall(shape.again)
        if waiting.is_set():
            left.set()

    def accept(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                threading.Thread(target=serve, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=(server,), daemon=True).start()
        try:
            yield SlowServer(f"http://127.0.0.1:{server.getsockname()[1]}", asked, waiting, left)
        finally:
            ended.set()
            server.shutdown(socket.SHUT_RDWR)


def _request(client: socket.socket, ended: threading.Event) -> bytes:
    """Return what was asked; of what is no HTTP, such as TLS, what came first."""
    said = b""
    while b"\r\n\r\n" not in said and not ended.is_set():
        with suppress(TimeoutError):
            part = client.recv(4096)
            said += part
            if not part or not said.startswith(b"GET "[: len(said)]):
                break
    return said


def _has_left(client: socket.socket) -> bool:
    """Wait a little; tell whether who asked has closed the connection."""
    try:
        return client.recv(4096) == b""
    except TimeoutError:
        return False
