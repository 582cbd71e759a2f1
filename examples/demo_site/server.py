"""Serves the demo site on the loopback interface."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .replies import Reply, respond

HOST = "127.0.0.1"
DETAIL = "/content/view/"


class DemoServer:
    """The site at ``url`` inside a ``with`` block.

    ``requests`` lists (monotonic seconds, path with query) in order of arrival.

    Args:
        port: The port; any free one if 0.

    """

    def __init__(self, port: int = 0) -> None:
        self.requests: list[tuple[float, str]] = []
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
        """Record the request and return the reply."""
        self.requests.append((time.monotonic(), target))
        return respond(target, self.url)


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
    with DemoServer(parser.parse_args(arguments).port) as server:
        print(f"The Harbour Ledger is served at {server.url} (Ctrl-C ends it)", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
