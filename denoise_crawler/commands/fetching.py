"""One page from its address, as ``scrapy fetch`` would get it, without a crawl around it."""

from __future__ import annotations

import time
from http.client import HTTPException
from socket import SOCK_STREAM, getaddrinfo
from typing import IO, TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from w3lib.url import safe_url_string

from denoise_crawler.crawl.private_addresses import is_private
from denoise_crawler.errors import FetchError
from denoise_crawler.page import MAX_CHARACTERS
from denoise_crawler.reading.http_response import HTML_TYPES, in_its_charset

if TYPE_CHECKING:
    from http.client import HTTPMessage, HTTPResponse

SECONDS = 30.0
SCHEMES = ("http", "https")
_PIECE = 1 << 16


class _RedirectHandler(HTTPRedirectHandler):
    """Follows no redirection to this machine or a private network, but on the host that was named."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the next request; raise FetchError."""
        host = urlsplit(newurl).hostname or ""
        if host != req.origin_req_host and any(map(is_private, _addresses(host))):
            raise FetchError(f"{req.full_url} leads to {newurl}, of this machine or of a private network")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


# No others: an address must not lead to a file of this machine.
_HANDLERS = (
    ProxyHandler,
    HTTPHandler,
    HTTPSHandler,
    HTTPDefaultErrorHandler,
    _RedirectHandler,
    HTTPErrorProcessor,
)


def is_address(text: str) -> bool:
    """Tell whether ``text`` is an address rather than a path."""
    return "://" in text


def fetch(url: str, *, user_agent: str, seconds: float = SECONDS) -> tuple[str, str | bytes]:
    """Return the address (after redirections) and the HTML at ``url``; raise :class:`FetchError`.

    ``seconds`` is the time for all of it, 8 MB the most that is read. The address is asked for because a person
    named it, as in a browser: robots.txt, which is for crawlers, is not.
    """
    scheme = url.partition(":")[0].lower()
    if scheme not in SCHEMES:
        raise FetchError(f"{url}: only http and https can be fetched, not {scheme}")
    headers = {
        "User-Agent": user_agent,
        "Accept": "text/html,application/xhtml+xml",
        "Accept-Encoding": "identity",
    }
    deadline = time.monotonic() + seconds
    try:
        with _opener().open(Request(safe_url_string(url), headers=headers), timeout=seconds) as response:  # noqa: S310
            body = _body(response, url, deadline)
            said = response.headers.get("Content-Type", "")
            return str(response.url), in_its_charset(body, said)
    except HTTPError as error:
        error.close()
        raise FetchError(f"{url}: the server answers {error.code} {error.reason}") from None
    except URLError as error:
        raise FetchError(f"{url} cannot be fetched: {error.reason}") from None
    except (OSError, HTTPException, ValueError) as error:
        raise FetchError(f"{url} cannot be fetched: {error or type(error).__name__}") from None


def _opener() -> OpenerDirector:
    opener = OpenerDirector()
    for handler in _HANDLERS:
        opener.add_handler(handler())
    return opener


def _addresses(host: str) -> list[str]:
    try:
        return [str(address[0]) for *_, address in getaddrinfo(host, None, type=SOCK_STREAM)]
    except (OSError, UnicodeError):
        return []


def _body(response: HTTPResponse, url: str, deadline: float) -> bytes:
    kind = response.headers.get_content_type()
    if "Content-Type" in response.headers and kind not in HTML_TYPES:
        raise FetchError(f"{url} is {kind}, not HTML")
    parts: list[bytes] = []
    size = 0
    while part := response.read1(_PIECE):
        parts.append(part)
        size += len(part)
        if size > MAX_CHARACTERS:
            raise FetchError(f"{url} is larger than {MAX_CHARACTERS:,} bytes")
        if time.monotonic() > deadline:
            raise FetchError(f"{url} cannot be fetched: too slow")
    return b"".join(parts)
