"""Items and responses as bytes, to wait in the store: pickled, as Scrapy keeps requests in JOBDIR."""

from __future__ import annotations

import inspect
import json
import os
import pickle
from pathlib import Path
from typing import Any

from scrapy import Spider, http
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.utils.conf import closest_scrapy_cfg

from denoise_crawler.errors import DamagedRowError, UnparkableError

PAGE_KEY = "denoise_page"  # in the meta of a response: the page that the spider names instead of the body


def class_path(kind: type) -> str:
    """Return the name of a class with its module."""
    return f"{kind.__module__}.{kind.__qualname__}"


def pack(item: Any) -> bytes:
    """Pickle an item; raise UnparkableError if it cannot be pickled."""
    try:
        data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        pickle.loads(data)  # noqa: S301 - some objects cannot be read back
    except Exception as error:
        raise UnparkableError(f"{class_path(type(item))}: {error}") from error
    return data


def unpack(data: bytes) -> Any:
    """Return what :func:`pack` pickled; raise UnparkableError if its class is gone or the bytes are damaged."""
    try:
        return pickle.loads(data)  # noqa: S301 - written by :func:`pack`, in a file that only the user can write
    except Exception as error:
        raise UnparkableError(f"the item cannot be read: {error}") from error


def response_as_bytes(response: Response, html: str | None = None) -> bytes:
    """Pickle a response and its request, without callbacks; without its body if ``html`` gives it."""
    request = response.request
    known: dict[str, Any] = {name: getattr(response, name) for name in ("url", "status", "flags", "protocol")}
    known |= {"headers": dict(response.headers), "body": response.body}
    if isinstance(response, http.TextResponse):
        known["encoding"] = response.encoding
        if html is not None and html.encode(response.encoding, "replace") == response.body:
            known["body"] = None
    if request is not None:
        kept = request.replace(callback=None, errback=None, meta={}, cb_kwargs={}).to_dict()
        known["request"] = kept | {
            "meta": {name: value for name, value in request.meta.items() if _is_kept(name, value)}
        }
    kinds = (http.HtmlResponse, http.XmlResponse, http.JsonResponse, http.TextResponse, Response)
    return pickle.dumps((next(kind for kind in kinds if isinstance(response, kind)), known))


def response_from_bytes(data: bytes, html: str) -> Response:
    """Return the response; raise DamagedRowError."""
    try:
        kind, known = pickle.loads(data)  # noqa: S301 - as above
        if known["body"] is None:
            known["body"] = html.encode(known["encoding"], "replace")
        if request := known.get("request"):
            known["request"] = Request(**{name: value for name, value in request.items() if name != "_class"})
        response: Response = kind(**known)
        return response
    except Exception as error:
        raise DamagedRowError(f"the response of an item that waits is damaged: {error}") from error


def _is_kept(name: str, value: Any) -> bool:
    try:
        return name != PAGE_KEY and bool(pickle.dumps(value))
    except Exception:  # a connection, a browser page
        return False


def owner_of(crawler: Crawler) -> str:
    """Return a string that tells the spider of ``crawler`` from all others that may use the same store."""
    spider = crawler.spidercls
    names = [_project_of(spider), crawler.settings.get("BOT_NAME"), class_path(spider), spider.name or ""]
    return json.dumps(names)


def _project_of(spider: type[Spider]) -> str:
    if config := closest_scrapy_cfg():
        return str(Path(config).resolve().parent)
    if project := os.environ.get("SCRAPY_PROJECT"):
        return f"project {project}"
    try:
        return str(Path(inspect.getfile(spider)).resolve())
    except (OSError, TypeError):
        return ""
