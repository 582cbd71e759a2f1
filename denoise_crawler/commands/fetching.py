"""Fetches one page without a crawl: within limits of time and size, and from no private address."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from w3lib.url import safe_url_string

from denoise_crawler.errors import FetchError, PrivateHostError, needs
from denoise_crawler.page import MAX_HTML_BYTES
from denoise_crawler.page.site import DEFAULT_PORTS, is_private
from denoise_crawler.reading.compression import decompress
from denoise_crawler.reading.http_response import HTML_TYPES, decode_by_content_type

if TYPE_CHECKING:
    import httpx2

SECONDS = 30.0
MAX_REDIRECTIONS = 10
_REDIRECTIONS = (301, 302, 303, 307, 308)
_COMPRESSED = ("gzip", "x-gzip", "deflate")  # not asked for, but some servers send nothing else


@dataclass(frozen=True, slots=True)
class Query:
    """How addresses are asked for.

    Args:
        user_agent: The value of the User-Agent header.
        may_be_private: Returns True if the addresses of a host and port may be private.
        max_bytes: A larger body is refused.
        types: The media types that are accepted; none for all.
    """

    user_agent: str
    may_be_private: Callable[[str, int], bool]
    max_bytes: int = MAX_HTML_BYTES
    types: Collection[str] = HTML_TYPES


class Answer(NamedTuple):
    """The answer of a server: its status and reason, where it redirects to, the Content-Type and the body."""

    status: int
    reason: str
    location: str = ""
    content_type: str = ""
    body: bytes = b""

    @property
    def is_good(self) -> bool:
        """True if it has what was asked for."""
        return 200 <= self.status < 300


def is_url(text: str) -> bool:
    """Return True if ``text`` is a URL, not a path."""
    return "://" in text


def fetch(url: str, *, user_agent: str, seconds: float = SECONDS) -> tuple[str, str | bytes]:
    """Fetch a page of at most 8 MB for a person.

    robots.txt is not asked: it is for crawlers, and here a person named the URL, as in a browser. No redirection
    to this machine or a private network is followed, except on the host that the person named.

    Args:
        url: An http or https URL.
        user_agent: The value of the User-Agent header.
        seconds: The time limit for the whole exchange with its redirections.

    Returns:
        The URL after redirections, and the HTML.

    Raises:
        FetchError: The page cannot be fetched, or is no HTML.
        MissingExtraError: The HTTP client is not installed.
    """
    url = checked(url)
    named, _ = endpoint(url)
    query = Query(user_agent, lambda host, _: host == named)
    return html_of(*asyncio.run(follow(url, query, seconds)), url)


def html_of(url: str, answer: Answer, asked: str) -> tuple[str, str | bytes]:
    """Return the URL and HTML of an answer; raise FetchError that names the URL that was asked for."""
    if not answer.is_good:
        raise FetchError(f"{asked}: the server answers {answer.status} {answer.reason}")
    return url, decode_by_content_type(answer.body, answer.content_type)


async def follow(
    url: str, query: Query, seconds: float, allow: Callable[[str], Awaitable[float]] | None = None
) -> tuple[str, Answer]:
    """Ask for a URL and for what it redirects to.

    Args:
        url: The URL, :func:`checked`.
        query: How each is asked for.
        seconds: How long the servers may take in all.
        allow: Raises FetchError for an address that may not be asked, the first one or one that another leads to;
            returns how many seconds to wait before, which the servers do not take.

    Returns:
        The last URL, and its answer.

    Raises:
        FetchError: There is no answer, or one leads where it must not.
    """
    before, end = "", time.monotonic() + seconds
    for _ in range(MAX_REDIRECTIONS + 1):
        try:
            if allow is not None:
                turn = await asyncio.wait_for(allow(url), end - time.monotonic())
                await asyncio.sleep(turn)
                end += turn
            answer = await asyncio.wait_for(_ask(url, query), end - time.monotonic())
        except asyncio.TimeoutError:
            message = f"{url} cannot be fetched: it was not complete after {seconds:g} seconds"
            raise FetchError(message) from None
        except PrivateHostError as error:
            raise FetchError(f"{before} leads to {url}, and {error}") if before else error from None
        if not answer.location:
            return url, answer
        before, url = url, _redirected(url, answer.location)
    raise FetchError(f"{before} cannot be fetched: more than {MAX_REDIRECTIONS} redirections lead there")


def _redirected(url: str, location: str) -> str:
    try:
        return checked(urljoin(url, location))
    except ValueError as error:
        raise FetchError(f"{url} leads to {location}, which cannot be fetched: {error}") from None


def checked(url: str) -> str:
    """Return an address as it is asked for; raise FetchError if it has no host or may lead to a file."""
    scheme = url.partition(":")[0].lower()
    if scheme not in DEFAULT_PORTS:
        raise FetchError(f"{url}: only http and https can be fetched, not {scheme}")
    try:
        url = safe_url_string(url)
    except ValueError as error:
        raise FetchError(f"{url} cannot be fetched: {error}") from None
    endpoint(url)
    return url


def endpoint(url: str) -> tuple[str, int]:
    """Return the host and port of a URL; raise FetchError if it has none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme]
    except ValueError as error:
        raise FetchError(f"{url} cannot be fetched: {error}") from None
    if not host:
        raise FetchError(f"{url} cannot be fetched: it names no host")
    return host, port


# --- one request


async def _ask(url: str, query: Query) -> Answer:
    """Ask for a URL once; follow no redirection. Raise PrivateHostError, or FetchError with the reason."""
    with needs("commands"):
        import httpx2
    try:
        at = httpx2.URL(url)
        host, port = at.raw_host.decode(), at.port or DEFAULT_PORTS[at.scheme]  # as the client reads them
        proxy = None if proxy_bypass(f"{host}:{port}") else getproxies().get(at.scheme)
        addresses = await _addresses(host, port, query, is_behind_proxy=bool(proxy))
        if proxy and "://" not in proxy:
            proxy = f"http://{proxy}"
        # Time-outs of the client begin anew with each byte; the caller has a limit for the whole.
        client = httpx2.AsyncClient(proxy=proxy, verify=_verifying(), timeout=None, trust_env=False)
        async with client:
            for address in addresses[:-1]:
                with suppress(httpx2.ConnectError):
                    return await _ask_at(address, at, client, query)
            return await _ask_at(addresses[-1], at, client, query)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, ImportError) as error:
        raise FetchError(f"{url} cannot be fetched: {_reason(error)}") from None


async def _addresses(host: str, port: int, query: Query, *, is_behind_proxy: bool) -> list[str]:
    """Return the addresses to connect to; of a host behind a proxy its name, which the proxy looks up.

    Raises:
        PrivateHostError: One of them is private and may not be.
        OSError: The name has no address.
    """
    may_be_private = query.may_be_private(host, port)
    if is_behind_proxy and may_be_private:
        return [host]
    try:
        addresses = await _look_up(host)
    except (OSError, UnicodeError):
        if not is_behind_proxy:  # which may know the name
            raise
        return [host]
    if not may_be_private and any(map(is_private, addresses)):
        raise PrivateHostError(f"{host} is on this machine or a private network: it may not be fetched from")
    return [host] if is_behind_proxy else addresses


async def _look_up(host: str) -> list[str]:
    """Return the IP addresses of a host, at least one; raise OSError, or UnicodeError for what can be no name.

    The system's look-up cannot be cancelled. So it has a thread of its own, which nobody waits for.
    """
    looked_up: Future[list[str]] = Future()
    looked_up.set_running_or_notify_cancel()

    def ask() -> None:
        try:
            addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            looked_up.set_result([str(address[0]) for *_, address in addresses])
        except (OSError, UnicodeError) as error:
            looked_up.set_exception(error)

    Thread(target=ask, daemon=True).start()
    return await asyncio.wrap_future(looked_up)


@cache
def _verifying() -> ssl.SSLContext:
    return ssl.create_default_context()


async def _ask_at(address: str, at: httpx2.URL, client: httpx2.AsyncClient, query: Query) -> Answer:
    """Ask the server at an address that was checked: a name might be another one when it is looked up again."""
    headers = {
        "Host": at.netloc.decode(),
        "User-Agent": query.user_agent,
        "Accept": "text/html,application/xhtml+xml" if query.types else "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    opened: list[Any] = []

    async def trace(event: str, info: dict[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            opened.append(info["return_value"])

    extensions = {"sni_hostname": at.raw_host.decode(), "trace": trace}
    try:
        url = at.copy_with(host=address)
        async with client.stream("GET", url, headers=headers, extensions=extensions) as response:
            return await _read(response, str(at), query)
    finally:  # the client leaves a connection open whose TLS handshake is cancelled
        for stream in opened:
            await stream.aclose()


async def _read(response: httpx2.Response, url: str, query: Query) -> Answer:
    status, reason = response.status_code, response.reason_phrase
    location = response.headers.get("Location", "") if status in _REDIRECTIONS else ""
    if location or not 200 <= status < 300:
        return Answer(status, reason, location)
    content_type = response.headers.get("Content-Type", "")
    kind = content_type.partition(",")[0].partition(";")[0].strip().lower()
    if query.types and kind and kind not in query.types:
        raise FetchError(f"{url} is {kind}, not HTML")
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > query.max_bytes:
            raise FetchError(f"{url} is larger than {query.max_bytes:,} bytes")
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in _COMPRESSED:
        return Answer(status, reason, "", content_type, bytes(body))
    plain, problem = decompress(bytes(body), query.max_bytes, raw_deflate=encoding == "deflate")
    if problem:
        raise FetchError(f"{url} cannot be fetched: {problem}")
    return Answer(status, reason, "", content_type, plain)


def _reason(error: BaseException) -> str:
    """Return the words of the system, not what libraries made of them."""
    while isinstance(inner := error.__cause__ or next(iter(error.args), None), BaseException):
        error = inner
    return str(error) or type(error).__name__
