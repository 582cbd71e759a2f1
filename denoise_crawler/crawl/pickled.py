"""Items and responses as bytes, to wait in the store: pickled, as Scrapy keeps requests in JOBDIR.

Nothing else in the package reads these bytes: whoever can write them can run code.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

import msgspec
from scrapy import http
from scrapy.http import Request, Response

from denoise_crawler.errors import DamagedRowError, UnparkableError
from denoise_crawler.methods.stored_bytes import MAX_BYTES, decode_msgpack

PAGE_KEY = "denoise_page"  # in the meta of a response: the page that the spider names instead of the body

_KINDS = (http.HtmlResponse, http.XmlResponse, http.JsonResponse, http.TextResponse, Response)


def class_path(kind: type) -> str:
    """Return the name of a class with its module."""
    return f"{kind.__module__}.{kind.__qualname__}"


def pack(item: Any) -> bytes:
    """Pickle an item; raise UnparkableError if it cannot be pickled and read back."""
    if type(item).__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
        raise UnparkableError(f"{class_path(type(item))}: the class was typed in, and no later run can find it")
    try:
        data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        pickle.loads(data)  # noqa: S301 - some objects are pickled and cannot be read back
    except Exception as error:
        raise UnparkableError(f"{class_path(type(item))}: {error}") from error
    return data


def unpack(data: bytes) -> Any:
    """Return what :func:`pack` pickled; raise UnparkableError if its class is gone or the bytes are damaged."""
    try:
        return pickle.loads(data)  # noqa: S301 - from a file that only the user can write
    except Exception as error:
        raise UnparkableError(f"an item that waits cannot be read: {error}") from error


def response_as_bytes(response: Response, html: str | None = None) -> bytes:
    """Pickle a response and its request, without callbacks; without its body if ``html`` gives it."""
    known: dict[str, Any] = {name: getattr(response, name) for name in ("url", "status", "flags", "protocol")}
    known |= {"headers": dict(response.headers), "body": response.body}
    if isinstance(response, http.TextResponse):
        known["encoding"] = response.encoding
        if html is not None and html.encode(response.encoding, "replace") == response.body:
            known["body"] = None
    if (request := response.request) is not None:
        kept = request.replace(callback=None, errback=None, meta={}, cb_kwargs={}).to_dict()
        meta = {name: value for name, value in request.meta.items() if _is_kept(name, value)}
        known["request"] = kept | {"meta": meta}
    return pickle.dumps((next(kind for kind in _KINDS if isinstance(response, kind)), known))


def response_from_bytes(data: bytes, html: str) -> Response:
    """Return the response; raise DamagedRowError."""
    try:
        kind, known = pickle.loads(data)  # noqa: S301 - as above
        if known["body"] is None:
            known["body"] = html.encode(known["encoding"], "replace")
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


# --- the bytes of an item, in which the HTML of its page is not repeated

MIN_SHARED_CHARACTERS = 1_000
_encode = msgspec.msgpack.Encoder().encode


def cut_html(item: bytes, html: str) -> bytes:
    """Cut the HTML of a page out of the bytes of an item; :func:`paste_html` puts it back.

    Example:
        >>> packed = b"before " + 400 * b"<p>" + b" after"
        >>> len(cut_html(packed, 400 * "<p>"))
        18
        >>> paste_html(cut_html(packed, 400 * "<p>"), 400 * "<p>") == packed
        True
    """
    if len(html) < MIN_SHARED_CHARACTERS or len(html) > len(item):
        return _encode([item])
    try:
        return _encode(item.split(html.encode()))
    except UnicodeEncodeError:  # a lone surrogate: the store would change the HTML
        return _encode([item])


def paste_html(data: bytes, html: str) -> bytes:
    """Return the bytes of an item as they were before :func:`cut_html`.

    Raises:
        ValueError: ``data`` is damaged, or the item has more than 64 MB.
    """
    parts: list[bytes] = decode_msgpack(data, list[bytes])
    if len(parts) == 1:
        return parts[0]
    own = html.encode()
    if len(data) + len(parts) * len(own) > MAX_BYTES:  # manipulated bytes may repeat the HTML any number of times
        raise ValueError("the item is too large")
    return own.join(parts)
