"""Stores the HTML of a page once, and not again in each item that carries it."""

from __future__ import annotations

import msgspec

from denoise_crawler.methods.versioned_format import MAX_BYTES, decode_msgpack

MIN_SHARED_CHARACTERS = 1_000

_encode = msgspec.msgpack.Encoder().encode


def cut_html(item: bytes, html: str) -> bytes:
    """Cut the HTML of a page out of the bytes of an item.

    Args:
        item: An item as bytes, in which text is UTF-8.
        html: The HTML of its page.

    Returns:
        Bytes for :func:`paste_html`.

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

    Args:
        data: What :func:`cut_html` returned.
        html: The HTML of the page.

    Returns:
        The item as bytes.

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
