"""Stores a response as bytes, so that items can leave later with the response they came from."""

from __future__ import annotations

from typing import Any

import msgspec
from scrapy import http
from scrapy.http import Headers, Request, Response

from denoise_crawler.crawl.item_codec import pack, unpack
from denoise_crawler.errors import DamagedRowError, UnparkableError
from denoise_crawler.methods.keeping import decode_msgpack
from denoise_crawler.page.parsing import is_charset

PAGE_KEY = "denoise_page"  # in the meta of a response: the page that the spider names instead of the body

StoredHeaders = list[tuple[bytes, list[bytes]]]
# A response of a subclass comes back as the nearest of these classes of Scrapy.
_CLASS_NAMES = ("HtmlResponse", "XmlResponse", "JsonResponse", "TextResponse", "Response")

_VALUE_KEY = "value"  # pack takes only items, so each value is packed in a dict


class _StoredRequest(msgspec.Struct, array_like=True):
    url: str
    method: str
    headers: StoredHeaders
    body: bytes
    meta: dict[str, bytes]
    priority: int
    dont_filter: bool


class _StoredResponse(msgspec.Struct, array_like=True):
    kind: str
    url: str
    status: int
    headers: StoredHeaders
    body: bytes | None
    encoding: str | None
    flags: list[str]
    protocol: str | None
    request: _StoredRequest | None


_encode = msgspec.msgpack.Encoder().encode


def response_as_bytes(response: Response, html: str | None = None) -> bytes:
    """Encode a response and its request.

    The ``meta`` of the request is stored as far as :func:`pack` takes its values, without the page that the spider
    named there: that page is stored by itself. ``cb_kwargs``, callbacks, certificate and IP address are left out.

    Args:
        response: The response.
        html: Its body as text, if that is stored elsewhere. The body is left out if it can be rebuilt from the
            text.

    Returns:
        Bytes for :func:`response_from_bytes`.
    """
    encoding = response.encoding if isinstance(response, http.TextResponse) else None
    kind = next(name for name in _CLASS_NAMES if isinstance(response, getattr(http, name)))
    return _encode(
        _StoredResponse(
            kind,
            _replace_surrogates(response.url),
            response.status,
            _header_list(response.headers),
            None if html is not None and _encode_body(html, encoding) == response.body else response.body,
            encoding,
            [_replace_surrogates(flag) for flag in response.flags if isinstance(flag, str)],
            response.protocol,
            _to_stored_request(response.request) if response.request is not None else None,
        )
    )


def response_from_bytes(data: bytes, html: str) -> Response:
    """Decode what :func:`response_as_bytes` returned.

    A body that was left out is rebuilt from the HTML of the page.

    Raises:
        DamagedRowError: The bytes are damaged.
    """
    try:
        stored: _StoredResponse = decode_msgpack(data, _StoredResponse)
        if stored.kind not in _CLASS_NAMES:
            raise ValueError(f"there is no class of responses {stored.kind}")
        body = _encode_body(html, stored.encoding) if stored.body is None else stored.body
        more: dict[str, Any] = {} if stored.encoding is None else {"encoding": stored.encoding}
        response: Response = getattr(http, stored.kind)(
            stored.url,
            status=stored.status,
            body=body or b"",
            flags=stored.flags,
            protocol=stored.protocol,
            request=_from_stored_request(stored.request) if stored.request is not None else None,
            **more,
        )
        _set_headers(response.headers, stored.headers)
    except Exception as error:
        raise DamagedRowError(f"the response of an item that waits is damaged: {error}") from error
    return response


def _to_stored_request(request: Request) -> _StoredRequest:
    return _StoredRequest(
        _replace_surrogates(request.url),
        request.method,
        _header_list(request.headers),
        request.body,
        {name: packed for name, value in request.meta.items() if (packed := _try_pack(name, value)) is not None},
        request.priority,
        request.dont_filter,
    )


def _from_stored_request(stored: _StoredRequest) -> Request:
    meta = {}
    for name, packed in stored.meta.items():
        try:
            found = unpack(packed)
        except UnparkableError:  # the class of the value is gone
            continue
        if type(found) is dict:  # for other classes, getting the value could run their code
            meta[name] = found[_VALUE_KEY]
    request = Request(
        stored.url,
        method=stored.method,
        body=stored.body,
        meta=meta,
        priority=stored.priority,
        dont_filter=stored.dont_filter,
    )
    _set_headers(request.headers, stored.headers)
    return request


def _try_pack(name: object, value: object) -> bytes | None:
    """Return ``value`` as bytes, None if it cannot be stored: a browser page, a connection, a callback."""
    if not isinstance(name, str) or name == PAGE_KEY:
        return None
    try:
        return pack({_VALUE_KEY: value})
    except UnparkableError:
        return None


def _encode_body(html: str, encoding: str | None) -> bytes | None:
    if not is_charset(encoding or "utf-8"):  # some Python codecs that are no charset take minutes
        return None
    try:
        return html.encode(encoding or "utf-8")
    except (LookupError, UnicodeError):
        return None


def _header_list(headers: Headers) -> StoredHeaders:
    return list(dict.items(headers))  # its own ``items`` makes each name and value fit for HTTP once more


def _set_headers(headers: Headers, stored: StoredHeaders) -> None:
    """Fill headers with others that were fit for HTTP when they were stored, which costs nothing then."""
    dict.update(headers, stored)


def _replace_surrogates(text: str) -> str:
    """Return ``text`` without lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode()
