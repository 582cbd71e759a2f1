"""Items that wait and their responses, pickled as Scrapy keeps requests in JOBDIR. Only crawls read them."""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from io import BytesIO
from typing import Any

from scrapy import http
from scrapy.http import Request, Response

from denoise_crawler.crawl.report import class_path
from denoise_crawler.crawl.source_page import PAGE_KEY
from denoise_crawler.errors import DamagedRowError, UnparkableError

_SHORT_HTML = 1_000  # characters, which may be repeated
_KINDS = (http.HtmlResponse, http.XmlResponse, http.JsonResponse, http.TextResponse, Response)


def pack(item: Any, html: str = "") -> bytes:
    """Pickle an item, without the ``html`` of its page; raise UnparkableError if it cannot be read back."""
    if type(item).__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
        raise UnparkableError(f"{class_path(type(item))}: the class was typed in, and no later run can find it")
    try:
        data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        if _SHORT_HTML < len(html) < len(data):  # the HTML may be in it
            _Pickler(file := BytesIO(), html).dump(item)
            data = file.getvalue()
        _Unpickler(BytesIO(data), html).load()  # some objects are pickled and cannot be read back
    except Exception as error:
        raise UnparkableError(f"{class_path(type(item))}: {error}") from error
    return data


def unpack(data: bytes, html: str = "") -> Any:
    """Return what :func:`pack` pickled; raise UnparkableError if its class is gone or the bytes are damaged."""
    try:
        return _Unpickler(BytesIO(data), html).load()
    except Exception as error:
        raise UnparkableError(f"an item that waits cannot be read: {error}") from error


class _Pickler(pickle.Pickler):
    """Names the HTML of a page, which the store has with the page, instead of repeating it."""

    def __init__(self, file: BytesIO, html: str) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._html: dict[type, str | bytes] = {}
        with suppress(UnicodeEncodeError):  # of a lone surrogate, which the store would change
            self._html = {str: html, bytes: html.encode()}

    def persistent_id(self, value: Any) -> str | None:
        """Return the name of the type of a value that is the HTML; None for all others."""
        return type(value).__name__ if value is not None and value == self._html.get(type(value)) else None


class _Unpickler(pickle.Unpickler):
    """Reads what :class:`_Pickler` wrote."""

    def __init__(self, file: BytesIO, html: str) -> None:
        super().__init__(file)
        self._html = html

    def persistent_load(self, name: str) -> Any:
        """Return the HTML."""
        return self._html if name == "str" else self._html.encode()


def is_body(html: str, response: Response) -> bool:
    """Return True if the body of a response is ``html``, which the store keeps as UTF-8, in its encoding."""
    if not isinstance(response, http.TextResponse):
        return False
    try:
        stored = html.encode()
        return (stored if response.encoding == "utf-8" else html.encode(response.encoding)) == response.body
    except (LookupError, UnicodeError):  # its encoding has no such character, or is none of text
        return False


def response_as_bytes(response: Response, *, with_body: bool = True) -> bytes:
    """Pickle a response and its request, without callbacks; its body is left out if it is the HTML of its page."""
    known: dict[str, Any] = {name: getattr(response, name) for name in ("url", "status", "flags", "protocol")}
    known |= {"headers": dict(response.headers), "body": response.body if with_body else None}
    if isinstance(response, http.TextResponse):
        known["encoding"] = response.encoding
    if (request := response.request) is not None:
        kept = request.replace(callback=None, errback=None, meta={}, cb_kwargs={}).to_dict()
        meta = {name: value for name, value in request.meta.items() if _is_kept(name, value)}
        known["request"] = kept | {"meta": meta}
    return pickle.dumps((next(kind for kind in _KINDS if isinstance(response, kind)), known))


def response_from_bytes(data: bytes, html: str) -> Response:
    """Return the response of a page with this HTML; raise DamagedRowError."""
    try:
        kind, known = pickle.loads(data)  # noqa: S301 - as above
        if known["body"] is None:
            known["body"] = html.encode(known["encoding"])
        if request := known.get("request"):
            known["request"] = Request(**{name: value for name, value in request.items() if name != "_class"})
        response: Response = kind(**known)
    except Exception as error:
        raise DamagedRowError(f"the response of an item that waits is damaged: {error}") from error
    return response


def _is_kept(name: str, value: Any) -> bool:
    try:
        return name != PAGE_KEY and bool(pickle.dumps(value))
    except Exception:  # a connection, a browser page
        return False
