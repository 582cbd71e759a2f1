"""Web servers on this machine: one answers as a test says, one has TLS, others keep who asks waiting."""

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

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

    def handle_error(self, *given: Any) -> None:
        """Write nothing of a client that does not trust us."""
        if not isinstance(sys.exc_info()[1], ssl.SSLError):
            super().handle_error(*given)


class Served(NamedTuple):
    """Where a site is served, without a slash at the end, and the paths it was asked for."""

    url: str
    asked: list[str]


@contextmanager
def serving(answer: Callable[[str], Answer], certified: Path | None = None) -> Iterator[Served]:
    """Serve what ``answer`` says of each path, with TLS if there is a file with a certificate and its key."""
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
        if certified:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certified)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield Served(f"http://127.0.0.1:{server.server_port}", asked)
        finally:
            server.shutdown()
            thread.join()


def certificate(path: Path, host: str) -> Path:
    """Write a certificate of a host that signs itself, and its key, to a file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(timezone.utc)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    no_password = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    pem = serialization.Encoding.PEM
    path.write_bytes(made.public_bytes(pem) + key.private_bytes(pem, form, no_password))
    return path


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
