"""Items and responses as bytes, to wait in the store: pickled, as Scrapy keeps requests in JOBDIR.

Nothing else in the package reads these bytes: whoever can write them can run code.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

from scrapy import http
from scrapy.http import Request, Response

from denoise_crawler.errors import DamagedRowError, UnparkableError

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


def response_as_bytes(response: Response) -> bytes:
    """Pickle a response and its request, without callbacks."""
    known: dict[str, Any] = {name: getattr(response, name) for name in ("url", "status", "flags", "protocol")}
    known |= {"headers": dict(response.headers), "body": response.body}
    if isinstance(response, http.TextResponse):
        known["encoding"] = response.encoding
    if (request := response.request) is not None:
        kept = request.replace(callback=None, errback=None, meta={}, cb_kwargs={}).to_dict()
        meta = {name: value for name, value in request.meta.items() if _is_kept(name, value)}
        known["request"] = kept | {"meta": meta}
    return pickle.dumps((next(kind for kind in _KINDS if isinstance(response, kind)), known))


def response_from_bytes(data: bytes) -> Response:
    """Return the response; raise DamagedRowError."""
    try:
        kind, known = pickle.loads(data)  # noqa: S301 - as above
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
