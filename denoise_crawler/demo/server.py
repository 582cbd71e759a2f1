"""Serves the demo site on the loopback interface."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from denoise_crawler.demo.articles import articles
from denoise_crawler.demo.site import Reply, respond

HOST = "127.0.0.1"
DETAIL = "/content/view/"


class DemoServer:
    """The site at ``url`` inside a ``with`` block.

    ``requests`` lists (monotonic seconds, path with query) in order of arrival.

    Args:
        port: The port; any free one if 0.
        crawl_delay: Seconds to announce in robots.txt.
        latency: Seconds before each reply.
        fail_every: Every n-th article of ``articles()`` answers 503 to the first request of each of its URLs.

    """

    def __init__(
        self,
        port: int = 0,
        *,
        crawl_delay: float | None = None,
        latency: float = 0.0,
        fail_every: int = 0,
    ) -> None:
        self.requests: list[tuple[float, str]] = []
        self._crawl_delay = crawl_delay
        self._latency = latency
        step = fail_every or len(articles()) + 1
        self._failing = {article.id for article in articles()[step - 1 :: step]}
        self._failed: set[str] = set()
        self._lock = threading.Lock()
        self._http = _Server((HOST, port), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Return the site's address without a trailing slash."""
        return f"http://{HOST}:{self._http.server_port}"

    def __enter__(self) -> DemoServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, target: str) -> Reply:
        """Record the request and return the reply, or 503 if the URL is due to fail."""
        path = target.partition("?")[0]
        with self._lock:
            self.requests.append((time.monotonic(), target))
            fails = self._must_fail(path)
            if fails:
                self._failed.add(path)
        time.sleep(self._latency)
        if fails:
            return Reply(503, "text/plain; charset=utf-8", b"Busy, try again.\n", {"Retry-After": "1"})
        reply = respond(target, self.url)
        if path == "/robots.txt" and self._crawl_delay is not None:
            return Reply(
                reply.status,
                reply.content_type,
                reply.body + f"Crawl-delay: {self._crawl_delay:g}\n".encode(),
            )
        return reply

    def _must_fail(self, path: str) -> bool:
        last = path.rpartition("/")[2]
        story = last if path.startswith(DETAIL) else last.removeprefix("ar-")
        return story in self._failing and path not in self._failed


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client may hang up
            super().handle_error(request, client_address)


def _handler(server: DemoServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # send headers and body together, without waiting for a delayed ACK
        timeout = 30

        def do_GET(self) -> None:
            self._send(server.answer(self.path), with_body=True)

        def do_HEAD(self) -> None:
            reply = server.answer(self.path)
            if self.path.startswith(DETAIL):  # as on MSN, where HEAD finds nothing there
                reply = Reply(404, reply.content_type, b"")
            self._send(reply, with_body=False)

        def _send(self, reply: Reply, *, with_body: bool) -> None:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return Handler


def main(arguments: list[str] | None = None) -> None:
    """Serve the demo site until Ctrl-C."""
    parser = argparse.ArgumentParser(
        description="Serve The Harbour Ledger, a fictional news site, on this machine."
    )
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (0: any free one)")
    parser.add_argument("--crawl-delay", type=float, help="seconds to announce in robots.txt")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds to wait before each reply")
    parser.add_argument("--fail-every", type=int, default=0, help="every n-th article fails once with 503")
    chosen = parser.parse_args(arguments)
    options = {"crawl_delay": chosen.crawl_delay, "latency": chosen.latency, "fail_every": chosen.fail_every}
    with DemoServer(chosen.port, **options) as server:
        print(f"The Harbour Ledger is served at {server.url} (Ctrl-C ends it)", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
