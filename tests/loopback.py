"""A web server on this machine that answers as a test says."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HTML = {"Content-Type": "text/html; charset=utf-8"}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def nothing(_: str) -> Answer:
    """Answer any path with an empty page."""
    return Answer(200, HTML, b"")


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # a crawl knocks at once for all it may; who finds no room tries again a second later


class Served(NamedTuple):
    """Where a site is served, without a slash at the end, and the paths it was asked for."""

    url: str
    asked: list[str]


@contextmanager
def serving(answer: Callable[[str], Answer]) -> Iterator[Served]:
    """Serve what ``answer`` says of each path."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            status, headers, body = answer(self.path)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                with suppress(ConnectionError):  # who asked has seen enough
                    self.wfile.write(body)

        do_POST = do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    with _Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield Served(f"http://127.0.0.1:{server.server_port}", asked)
        finally:
            server.shutdown()
            thread.join()
