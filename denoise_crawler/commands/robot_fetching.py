"""Fetches pages that a program names: robots.txt is obeyed, and nothing private is asked."""

from __future__ import annotations

import socket
import ssl
import time
from collections import OrderedDict
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Lock
from typing import IO, TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from protego import Protego
from w3lib.url import safe_url_string

from denoise_crawler.commands.fetching import check_scheme, fetch, ip_addresses, read_body
from denoise_crawler.crawl.private_addresses import is_private
from denoise_crawler.errors import FetchError
from denoise_crawler.page.site import DEFAULT_PORTS

if TYPE_CHECKING:
    from collections.abc import Collection
    from http.client import HTTPMessage

MAX_ROBOTS_BYTES = 512_000  # RFC 9309 asks for 500 KiB
MAX_CRAWL_DELAY = 30.0
_ROBOTS_SECONDS = 10.0
_ROBOTS_KEPT_SECONDS = 3_600.0
_MAX_ROBOTS_KEPT = 1_000


class RobotFetcher:
    """Fetches pages for a program.

    robots.txt of each host is read before its first page and kept for an hour; one that cannot be reached allows
    nothing, one that does not exist everything. A ``Crawl-delay`` is waited for. Names and redirects that lead to
    this machine or a private network are refused: the connection goes to the address that was checked. A proxy
    of the environment looks names up itself; the names are checked here as well.

    Args:
        user_agent: The name that robots.txt is asked for, and the value of the User-Agent header.
        private_hosts: Hosts, each with its port or without, that may be asked though they are private.

    """

    def __init__(self, user_agent: str, private_hosts: Collection[str] = ()) -> None:
        self._user_agent = user_agent
        self._private_hosts = frozenset(private_hosts)
        handlers = _HttpHandler(self._connected), _HttpsHandler(self._connected)
        self._robots_opener = build_opener(*handlers, _RedirectHandler(self._check_host))
        self._opener = build_opener(*handlers, _RedirectHandler(self._wait_until_allowed))
        self._robots: OrderedDict[str, tuple[float, Protego]] = OrderedDict()
        self._turns: OrderedDict[str, float] = OrderedDict()
        self._lock = Lock()

    def fetch(self, url: str) -> tuple[str, str | bytes]:
        """Fetch a page.

        Args:
            url: An http or https URL.

        Returns:
            The URL after redirections, and the HTML.

        Raises:
            FetchError: The page may not or cannot be fetched, or is no HTML.

        """
        try:
            url = safe_url_string(url)
        except ValueError as error:
            raise FetchError(f"{url} cannot be fetched: {error}") from None
        self._wait_until_allowed(url)
        return fetch(url, user_agent=self._user_agent, opener=self._opener)

    def _wait_until_allowed(self, url: str) -> None:
        """Wait for the turn of the host; raise FetchError if the URL may not be fetched."""
        self._check_host(url)
        authority = _authority(url)
        with self._lock:  # one robots.txt at a time, so that none is fetched twice
            robots = self._robots_of(authority)
        if not robots.can_fetch(url, self._user_agent):
            raise FetchError(f"{url} may not be fetched: robots.txt forbids it")
        delay = float(robots.crawl_delay(self._user_agent) or 0.0)
        if delay > MAX_CRAWL_DELAY:
            raise FetchError(f"{url} may not be fetched: robots.txt asks for gaps of {delay:g} seconds")
        time.sleep(self._seconds_until_turn(authority, delay))

    def _seconds_until_turn(self, authority: str, delay: float) -> float:
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._turns.pop(authority, now))
            self._turns[authority] = turn + delay
            _forget_the_oldest(self._turns)
        if turn - now > MAX_CRAWL_DELAY:
            raise FetchError(f"{authority} has too many requests waiting: ask again in {turn - now:.0f} seconds")
        return turn - now

    def _robots_of(self, authority: str) -> Protego:
        read_at, robots = self._robots.get(authority, (-_ROBOTS_KEPT_SECONDS, None))
        if robots is None or time.monotonic() - read_at >= _ROBOTS_KEPT_SECONDS:
            robots = self._read_robots(f"{authority}/robots.txt")
            self._robots[authority] = (time.monotonic(), robots)
            self._robots.move_to_end(authority)
            _forget_the_oldest(self._robots)
        return robots

    def _read_robots(self, url: str) -> Protego:
        deadline = time.monotonic() + _ROBOTS_SECONDS
        request = Request(url, headers={"User-Agent": self._user_agent})  # noqa: S310 - its scheme was checked
        try:
            with self._robots_opener.open(request, timeout=_ROBOTS_SECONDS) as response:
                body = read_body(response, url, deadline, MAX_ROBOTS_BYTES)
        except HTTPError as error:
            error.close()
            if 400 <= error.code < 500:  # there is none
                return Protego.parse("")
            raise FetchError(f"{url}: the server answers {error.code}, so nothing may be fetched there") from None
        except (OSError, HTTPException, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error or type(error).__name__
            raise FetchError(f"{url} cannot be reached ({reason}), so nothing may be fetched there") from None
        return Protego.parse(body.decode("utf-8", "replace"))

    def _check_host(self, url: str) -> None:
        check_scheme(url)
        host, port = _endpoint(url)
        if not self._may_be_private(host, port) and any(map(is_private, ip_addresses(host))):
            raise _private_error(host)

    def _may_be_private(self, host: str, port: int | None) -> bool:
        return not self._private_hosts.isdisjoint((host, f"{host}:{port}"))

    def _connected(self, host: str, port: int, seconds: float) -> socket.socket:
        """Connect to an address of a host that is not private; raise FetchError if it has none."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        if not self._may_be_private(host, port):
            found = [one for one in found if not is_private(str(one[4][0]))]
        for number, (*_, address) in enumerate(found, 1):
            try:
                return socket.create_connection((str(address[0]), port), seconds)
            except OSError:
                if number == len(found):
                    raise
        raise _private_error(host)


def _authority(url: str) -> str:
    """Return the scheme, host and port of a URL: what has a robots.txt."""
    host, port = _endpoint(url)
    return f"{urlsplit(url).scheme.lower()}://{f'[{host}]' if ':' in host else host}:{port}"


def _endpoint(url: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme.lower())
    except ValueError as error:
        raise FetchError(f"{url} cannot be fetched: {error}") from None
    if not host:
        raise FetchError(f"{url} cannot be fetched: it names no host")
    return host, port


def _private_error(host: str) -> FetchError:
    return FetchError(f"{host} is on this machine or a private network: it may not be fetched from")


def _forget_the_oldest(kept: OrderedDict[str, Any]) -> None:
    while len(kept) > _MAX_ROBOTS_KEPT:
        kept.popitem(last=False)


class _RedirectHandler(HTTPRedirectHandler):
    """Follows a redirection where ``check`` does not raise."""

    def __init__(self, check: Any) -> None:
        self._check = check

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the next request; raise FetchError."""
        try:
            self._check(newurl)
        except FetchError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Connection(HTTPConnection):
    def __init__(self, *given: Any, connected: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._connected = connected

    def connect(self) -> None:
        self.sock = self._connected(self.host, self.port, self.timeout)


class _SecureConnection(HTTPSConnection):
    def __init__(self, *given: Any, connected: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._connected = connected

    def connect(self) -> None:
        sock = self._connected(self.host, self.port, self.timeout)
        self.sock = ssl.create_default_context().wrap_socket(sock, server_hostname=self.host)


class _HttpHandler(HTTPHandler):
    def __init__(self, connected: Any) -> None:
        super().__init__()
        self._connected = connected

    def http_open(self, req: Request) -> Any:
        if req.has_proxy():
            return super().http_open(req)
        return self.do_open(partial(_Connection, connected=self._connected), req)


class _HttpsHandler(HTTPSHandler):
    def __init__(self, connected: Any) -> None:
        super().__init__()
        self._connected = connected

    def https_open(self, req: Request) -> Any:
        if req.has_proxy() or getattr(req, "_tunnel_host", None):
            return super().https_open(req)
        return self.do_open(partial(_SecureConnection, connected=self._connected), req)
