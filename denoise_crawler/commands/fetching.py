"""Fetches one page without a crawl."""

from __future__ import annotations

import time
from http.client import HTTPException
from socket import SOCK_STREAM, getaddrinfo
from typing import IO, TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from w3lib.url import safe_url_string

from denoise_crawler.crawl.private_addresses import is_private
from denoise_crawler.errors import FetchError
from denoise_crawler.page import MAX_HTML_BYTES
from denoise_crawler.reading.http_response import HTML_TYPES, decode_by_content_type

if TYPE_CHECKING:
    from http.client import HTTPMessage, HTTPResponse

SECONDS = 30.0
_CHUNK_BYTES = 1 << 16


class _PersonsRedirectHandler(HTTPRedirectHandler):
    """Follows no redirection to this machine or a private network, except on the host that the user named."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the next request; raise FetchError."""
        check_scheme(newurl)
        host = urlsplit(newurl).hostname or ""
        if host != req.origin_req_host and any(map(is_private, ip_addresses(host))):
            raise FetchError(f"{req.full_url} leads to {newurl}, of this machine or of a private network")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def is_url(text: str) -> bool:
    """Tell whether ``text`` is a URL, not a path."""
    return "://" in text


def fetch(
    url: str, *, user_agent: str, seconds: float = SECONDS, opener: OpenerDirector | None = None
) -> tuple[str, str | bytes]:
    """Fetch a page of at most 8 MB.

    robots.txt is not asked: it is for crawlers, and here a person named the URL, as in a browser. Where a program
    names it, give the opener of :class:`~denoise_crawler.commands.robot_fetching.RobotFetcher`.

    Args:
        url: An http or https URL.
        user_agent: The value of the User-Agent header.
        seconds: The time limit for the whole download.
        opener: Opens the URL and what it redirects to.

    Returns:
        The URL after redirections, and the HTML.

    Raises:
        FetchError: The page cannot be fetched, or is no HTML.

    """
    check_scheme(url)
    headers = {
        "User-Agent": user_agent,
        "Accept": "text/html,application/xhtml+xml",
        "Accept-Encoding": "identity",
    }
    deadline = time.monotonic() + seconds
    try:
        request = Request(safe_url_string(url), headers=headers)  # noqa: S310 - its scheme was checked
        with (opener or build_opener(_PersonsRedirectHandler)).open(request, timeout=seconds) as response:
            _check_type(response, url)
            body = read_body(response, url, deadline)
            said = response.headers.get("Content-Type", "")
            return str(response.url), decode_by_content_type(body, said)
    except HTTPError as error:
        error.close()
        raise FetchError(f"{url}: the server answers {error.code} {error.reason}") from None
    except URLError as error:
        raise FetchError(f"{url} cannot be fetched: {error.reason}") from None
    except (OSError, HTTPException, ValueError) as error:
        raise FetchError(f"{url} cannot be fetched: {error or type(error).__name__}") from None


def check_scheme(url: str) -> None:
    """Raise FetchError for an address that may lead to a file of this machine."""
    scheme = url.partition(":")[0].lower()
    if scheme not in ("http", "https"):
        raise FetchError(f"{url}: only http and https can be fetched, not {scheme}")


def ip_addresses(host: str) -> list[str]:
    """Return the addresses of a host, none if it has none."""
    try:
        return [str(address[0]) for *_, address in getaddrinfo(host, None, type=SOCK_STREAM)]
    except (OSError, UnicodeError):
        return []


def _check_type(response: HTTPResponse, url: str) -> None:
    kind = response.headers.get_content_type()
    if "Content-Type" in response.headers and kind not in HTML_TYPES:
        raise FetchError(f"{url} is {kind}, not HTML")


def read_body(response: HTTPResponse, url: str, deadline: float, most: int = MAX_HTML_BYTES) -> bytes:
    """Read a response; raise FetchError if it has more than ``most`` bytes or lasts longer than ``deadline``."""
    body = bytearray()
    while part := response.read1(_CHUNK_BYTES):
        body += part
        if len(body) > most:
            raise FetchError(f"{url} is larger than {most:,} bytes")
        if time.monotonic() > deadline:
            raise FetchError(f"{url} cannot be fetched: too slow")
    return bytes(body)
