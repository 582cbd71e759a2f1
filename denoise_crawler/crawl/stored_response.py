"""A response as bytes, so that the items of its page can go on later with the response they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from scrapy import http
from scrapy.http import Request, Response

from denoise_crawler.crawl.item_codec import pack, unpack
from denoise_crawler.crawl.pages import META_KEY
from denoise_crawler.errors import DamagedRowError, UnparkableError
from denoise_crawler.methods.versioned_format import decoded
from denoise_crawler.page.parsing import is_charset

if TYPE_CHECKING:
    from collections.abc import Mapping

Headers = list[tuple[bytes, list[bytes]]]
# The classes of Scrapy's own; a response of another class comes back as the nearest of these.
_KINDS = ("HtmlResponse", "XmlResponse", "JsonResponse", "TextResponse", "Response")

_VALUE = "value"  # what is packed is a dict


class _StoredRequest(msgspec.Struct, array_like=True):
    url: str
    method: str
    headers: Headers
    body: bytes
    meta: dict[str, bytes]
    priority: int
    dont_filter: bool


class _StoredResponse(msgspec.Struct, array_like=True):
    kind: str
    url: str
    status: int
    headers: Headers
    body: bytes | None
    encoding: str | None
    flags: list[str]
    protocol: str | None
    request: _StoredRequest | None


_encode = msgspec.msgpack.Encoder().encode


def response_as_bytes(response: Response, html: str | None = None) -> bytes:
    """Write ``response`` and its request.

    Args:
        response: The response.
        html: Its body as text, if that is stored elsewhere: the body is left out where it can be made of it.

    Returns:
        Bytes for :func:`response_from_bytes`.

    Of the request's ``meta`` what :func:`pack` takes is written, but for a page that the spider named there, which
    is stored by itself. Left out are ``cb_kwargs``, the callbacks, the certificate and the IP address.
    """
    encoding = response.encoding if isinstance(response, http.TextResponse) else None
    kind = next(name for name in _KINDS if isinstance(response, getattr(http, name)))
    return _encode(
        _StoredResponse(
            kind,
            _text(response.url),
            response.status,
            _headers(response.headers),
            None if html is not None and _encoded(html, encoding) == response.body else response.body,
            encoding,
            [_text(flag) for flag in response.flags if isinstance(flag, str)],
            response.protocol,
            _stored_request(response.request) if response.request is not None else None,
        )
    )


def response_from_bytes(data: bytes, html: str) -> Response:
    """Read what :func:`response_as_bytes` wrote.

    Args:
        data: The bytes.
        html: The HTML of the page, of which the body is made if it was left out.

    Returns:
        A response like the one that was written, with a request.

    Raises:
        DamagedRowError: the bytes are something else.
    """
    try:
        stored: _StoredResponse = decoded(data, _StoredResponse)
        if stored.kind not in _KINDS:
            raise ValueError(f"there is no class of responses {stored.kind}")
        body = _encoded(html, stored.encoding) if stored.body is None else stored.body
        more: dict[str, Any] = {} if stored.encoding is None else {"encoding": stored.encoding}
        response: Response = getattr(http, stored.kind)(
            stored.url,
            status=stored.status,
            headers=dict(stored.headers),
            body=body or b"",
            flags=stored.flags,
            protocol=stored.protocol,
            request=_request(stored.request) if stored.request is not None else None,
            **more,
        )
    except Exception as error:
        raise DamagedRowError(f"the response of an item that waits is damaged: {error}") from error
    return response


def _stored_request(request: Request) -> _StoredRequest:
    return _StoredRequest(
        _text(request.url),
        request.method,
        _headers(request.headers),
        request.body,
        {name: packed for name, value in request.meta.items() if (packed := _packed(name, value)) is not None},
        request.priority,
        request.dont_filter,
    )


def _request(stored: _StoredRequest) -> Request:
    meta = {}
    for name, packed in stored.meta.items():
        try:
            found = unpack(packed)
        except UnparkableError:  # its class is gone
            continue
        if type(found) is dict:  # else it would be code of a class that gives the value
            meta[name] = found[_VALUE]
    return Request(
        stored.url,
        method=stored.method,
        headers=dict(stored.headers),
        body=stored.body,
        meta=meta,
        priority=stored.priority,
        dont_filter=stored.dont_filter,
    )


def _packed(name: object, value: object) -> bytes | None:
    """Return ``value`` as bytes, None where that cannot be done: a browser's page, a connection, a callback."""
    if not isinstance(name, str) or name == META_KEY:
        return None
    try:
        return pack({_VALUE: value})
    except UnparkableError:
        return None


def _encoded(html: str, encoding: str | None) -> bytes | None:
    if not is_charset(encoding or "utf-8"):  # some codecs that are none take minutes
        return None
    try:
        return html.encode(encoding or "utf-8")
    except (LookupError, UnicodeError):
        return None


def _headers(headers: Mapping[bytes, Any]) -> Headers:
    return [(name, list(values)) for name, values in headers.items()]


def _text(text: str) -> str:
    """Return ``text`` without lone surrogates, which cannot be written."""
    return text.encode("utf-8", "replace").decode()
