"""Items that carry their page: the HTML is stored with the page, not once more with each of its items."""

from __future__ import annotations

import msgspec

from denoise_crawler.methods.versioned_format import MAX_BYTES, decoded

MIN_SHARED_CHARACTERS = 1_000  # characters of HTML; less is not worth the trouble

_encode = msgspec.msgpack.Encoder().encode


def cut_html(item: bytes, html: str) -> bytes:
    """Return the bytes of an item without those of the HTML of its page.

    Args:
        item: An item as bytes, in which text is UTF-8.
        html: The HTML of its page.

    Returns:
        What :func:`paste_html` makes the same bytes of.

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
    except UnicodeEncodeError:  # a lone surrogate: the store does not give the HTML back as it is
        return _encode([item])


def paste_html(data: bytes, html: str) -> bytes:
    """Return the bytes of an item as they were before :func:`cut_html`.

    Raises:
        ValueError: ``data`` is damaged, or the item has more than 64 MB.
    """
    parts: list[bytes] = decoded(data, list[bytes])
    if len(parts) == 1:
        return parts[0]
    own = html.encode()
    if len(data) + len(parts) * len(own) > MAX_BYTES:  # bytes made by hand may name it any number of times
        raise ValueError("the item is too large")
    return own.join(parts)
