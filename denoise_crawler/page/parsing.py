"""HTML in, tree out: decoding, repair and the limits of the parser."""

from __future__ import annotations

import codecs
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from lxml import etree
from w3lib.encoding import html_body_declared_encoding, html_to_unicode, read_bom

if TYPE_CHECKING:
    from lxml.etree import _Element

_KEPT_LEVELS = 200
_LONG_TAG = 60_000  # bytes
_MOST_ATTRIBUTES = 2_000
# Codecs of Python that give text and are no charset: they raise, take minutes or put tags where there are none.
_NO_CHARSETS = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
_COMMON_HAN = re.compile("[的一是不了在人有我他这为之大来以个中上们]")


def parse(html: str | bytes) -> _Element | None:
    """Return the root of the tree of ``html``, None when there is nothing in it."""
    source = _with_few_attributes(_utf8(html))
    if not source:
        return None
    parser = etree.HTMLParser(encoding="utf-8", recover=True, huge_tree=True)
    try:
        return etree.fromstring(source, parser)
    except (etree.XMLSyntaxError, AssertionError):
        return None  # nothing but comments, a doctype or white space


def parse_flattened(html: str | bytes) -> _Element:
    """Parse a page whose nesting is deeper than lxml's trees may be; below level 200 only its text is kept."""
    target: Any = _Flattening()
    parser = etree.HTMLParser(target=target, encoding="utf-8", recover=True, huge_tree=True)
    parser.feed(_with_few_attributes(_utf8(html)))
    root: _Element = parser.close()
    return root


def decode(body: bytes) -> str:
    """Decode a page: as UTF-8 where it is valid, else as it declares, else by a guess: UTF-8, Chinese or Western.

    What declares to be Western, or cannot be decoded as it declares, is Chinese where it reads so.
    """
    if is_utf8(body):
        return body.decode("utf-8")
    guess = cache(_guess)  # asked for twice at most, worked out once
    encoding, text = _as_declared(body) or _as(guess(body), body)
    doubtful = encoding == "cp1252" or "\ufffd" in text
    if doubtful and encoding != "gb18030" and guess(body) == "gb18030":
        return body.decode("gb18030", "replace")
    return text


@lru_cache(maxsize=256)
def is_charset(name: str) -> bool:
    """Tell whether a page may be written in ``name``: Python also has codecs that pack bytes or name hosts."""
    try:
        if codecs.lookup(name).name in _NO_CHARSETS:
            return False
        return b"<p>".decode(name) == "<p>"  # else no tag could have told its name
    except UnicodeError:
        return True  # UTF-16 and UTF-32, in which three bytes are no text
    except (LookupError, ValueError):
        return False


def is_utf8(body: bytes) -> bool:
    """Tell whether ``body`` is UTF-8 beyond ASCII, which no other encoding is by chance."""
    if body.isascii() or body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_larger(source: str | bytes, *, size: int, tags: int, attributes: int) -> bool:
    """Tell, without a tree, whether ``source`` has more than ``size`` bytes in UTF-8, ``tags`` or ``attributes``.

    Every ``<`` counts as a tag: there are no more elements. Attributes are looked for only where there is room.
    """
    found = source.count("<") if isinstance(source, str) else source.count(b"<")
    if len(source) > size or found > tags:
        return True
    if isinstance(source, str):
        if 4 * len(source) <= min(size, 8 * attributes):
            return False
        source = _encoded(source)
    if len(source) > size:
        return True
    # each attribute stands behind one of the first, or behind a value between two of the second
    separators = _count(source, b" \n\t\r\f/") + _count(source, b"\"'") // 2
    return separators > attributes and _Counting.attributes(source) > attributes


def _count(source: bytes, letters: bytes) -> int:
    return len(source) - len(source.translate(None, letters))


def has_endless_tag(source: bytes) -> bool:
    """Tell whether some tag of ``source`` may have so many attributes that the parser takes minutes for it."""
    return len(source) > _LONG_TAG and max(map(len, source.split(b">"))) > _LONG_TAG


def _with_few_attributes(source: bytes) -> bytes:
    """Cut what a tag has beyond 2,000 attributes: libxml2's time grows with the square of their number."""
    if not has_endless_tag(source):
        return source
    return b">".join(part if len(part) <= _LONG_TAG else _cut_attributes(part) for part in source.split(b">"))


def _cut_attributes(part: bytes) -> bytes:
    start = part.rfind(b"<")
    words = part[start:].split(maxsplit=_MOST_ATTRIBUTES)
    if start < 0 or not part[start + 1 : start + 2].isalpha() or len(words) <= _MOST_ATTRIBUTES:
        return part  # text, or a long address
    return part[:start] + b" ".join(words[:-1])


def _as_declared(body: bytes) -> tuple[str, str] | None:
    """Return the encoding that ``body`` declares and its text, None if it declares none that pages have."""
    declared = read_bom(body)[0] or html_body_declared_encoding(body)
    try:
        return _as(declared, body) if declared and is_charset(declared) else None
    except Exception:  # a codec may be anybody's, and raise anything
        return None


def _as(encoding: str, body: bytes) -> tuple[str, str]:
    return html_to_unicode(f"charset={encoding}", body)


def _guess(body: bytes) -> str:
    """Return UTF-8 or GB18030 where next to all of ``body`` is, some bytes broken; else Western."""
    text = body.decode("utf-8", "replace")
    if _mostly_sound(text, len(text) - len(text.encode("ascii", "ignore"))):
        return "utf-8"
    text = body.decode("gb18030", "replace")
    common = len(_COMMON_HAN.findall(text))
    return "gb18030" if common > len(text) // 200 and _mostly_sound(text, 2 * common) else "cp1252"


def _mostly_sound(text: str, beyond_ascii: int) -> bool:
    """Tell whether no more than one in fifty of the characters ``beyond_ascii`` could not be decoded."""
    return text.count("\ufffd") <= beyond_ascii // 50


def _utf8(html: str | bytes) -> bytes:
    """Return clean UTF-8: no NUL bytes (they end a document early), no lone surrogates."""
    text = decode(html) if isinstance(html, bytes) else html
    return _encoded(text.replace("\0", "").strip())


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class _Counting:
    """A parser target that builds nothing and counts attributes."""

    def __init__(self) -> None:
        self._found = 0

    @classmethod
    def attributes(cls, html: bytes) -> int:
        """Return how many attributes a tree of ``html`` has at most."""
        target: Any = cls()
        parser = etree.HTMLParser(target=target, encoding="utf-8", recover=True, huge_tree=True)
        parser.feed(_with_few_attributes(_utf8(html)))
        found: Any = parser.close()
        return int(found)

    def start(self, _: str, attributes: dict[str, str]) -> None:
        self._found += len(attributes)

    def end(self, _: str) -> None:
        """Pass over an end tag."""

    def close(self) -> int:
        return self._found


class _Flattening:
    """A parser target that builds no more than the outer levels and hangs all deeper text there."""

    def __init__(self) -> None:
        self._builder: Any = etree.TreeBuilder()
        self._depth = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= _KEPT_LEVELS:
            self._builder.start(tag, dict(attributes))
        elif tag in ("script", "style"):
            self._builder.start(tag, {})

    def end(self, tag: str) -> None:
        if self._depth <= _KEPT_LEVELS or tag in ("script", "style"):
            self._builder.end(tag)
        self._depth -= 1

    def data(self, text: str) -> None:
        self._builder.data(text)

    def close(self) -> _Element:
        root: _Element = self._builder.close()
        return root
