"""Decodes and parses HTML, within the limits of the parser."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from lxml import etree
from lxml.etree import _Element
from lxml.etree import _Element as Element
from w3lib.encoding import html_body_declared_encoding, html_to_unicode, read_bom

from denoise_crawler.page.text import without_lone_surrogates

if TYPE_CHECKING:
    import numpy.typing as npt


_MAX_FLATTENED_DEPTH = 200
_LONG_TAG_BYTES = 60_000  # bytes
_MAX_ATTRIBUTES_PER_TAG = 2_000
_FEW = 4  # times as many attributes as are allowed may stand in a tree that is only counted
_LOOKED_AT = 1 << 16
_MOST_BYTES = 4  # of a character in UTF-8
_ATTRIBUTES = etree.XPath("count(//@*)")
_SPACES = bytes(range(9, 14)) + bytes(range(28, 33))  # those of ASCII that ``str.strip`` takes
_BEYOND_ASCII = b"\x80"
# Python's text codecs that are no charsets: they raise, take minutes or produce tags where there are none.
_NO_CHARSETS = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
_NOT_IN_XML = {
    code: " " if chr(code).isspace() else None
    for code in (*range(0x20), 0xFFFE, 0xFFFF)
    if chr(code) not in "\t\n\r"
}
_RAW_TEXT = frozenset({"script", "style"})
_VOID = frozenset(
    {"area", "base", "basefont", "br", "col", "embed", "frame", "hr", "img", "input", "isindex", "link", "meta"}
    | {"param", "source", "track", "wbr"}
)
_COMMON_HAN = re.compile("[的一是不了在人有我他这为之大来以个中上们]")


def parse(html: str | bytes) -> _Element | None:
    """Parse ``html``, decoded as it declares, and return the root of its tree; None if there is nothing in it."""
    return _parse_utf8(_to_clean_utf8(html))


def _parse_utf8(clean: bytes) -> _Element | None:
    source = _limit_attributes(clean)
    if not source:
        return None
    # a table of all ids, which libxml2 makes for XPath's id(), costs 8 % of parsing
    parser = etree.HTMLParser(encoding="utf-8", recover=True, huge_tree=True, collect_ids=False)
    try:
        return etree.fromstring(source, parser)
    except (etree.XMLSyntaxError, AssertionError):
        return None  # nothing but comments, a doctype or white space


def parse_flattened(html: str | bytes) -> _Element | None:
    """Parse a page that is nested deeper than lxml allows; below level 200 only its text is kept.

    Control characters and others that XML does not allow are dropped.
    """
    return parse(_feed(_Flattener(), html))


def _feed(target: Any, html: str | bytes) -> Any:
    """Parse ``html`` into a parser target and return its result."""
    parser = etree.HTMLParser(target=target, encoding="utf-8", recover=True, huge_tree=True)
    parser.feed(_limit_attributes(_to_clean_utf8(html)))
    return parser.close()


def decode_html(body: bytes) -> str:
    r"""Decode a page: as UTF-8 if valid, else as it declares, else by a guess (UTF-8, Chinese or Western).

    A page that declares a Western charset, or has bytes invalid in its charset, is still decoded as Chinese if it
    reads as Chinese.

    Example:
        >>> decode_html("海港".encode()), decode_html(b'<meta charset="latin-2"><p>caf\xe9')
        ('海港', '<meta charset="latin-2"><p>café')
    """
    if is_utf8(body):
        return body.decode("utf-8")
    guess = cache(_guess_encoding)
    encoding, text = _decode_as_declared(body) or _decode_as(guess(body), body)
    doubtful = encoding == "cp1252" or "\ufffd" in text
    if doubtful and encoding != "gb18030" and guess(body) == "gb18030":
        return body.decode("gb18030", "replace")
    return text


@lru_cache(maxsize=256)
def is_charset(name: str) -> bool:
    """Return True if ``name`` is a charset for pages; Python also has codecs for compression and host names."""
    try:
        if codecs.lookup(name).name in _NO_CHARSETS:
            return False
        return b"<p>".decode(name) == "<p>"  # else no tag could have declared it
    except UnicodeError:
        return True  # UTF-16 and UTF-32, in which three bytes are invalid
    except (LookupError, ValueError):
        return False


def is_utf8(body: bytes) -> bool:
    """Return True if ``body`` is valid UTF-8 beyond ASCII; other encodings are not by chance."""
    if body.isascii() or body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class Markup:
    """HTML that is measured, then parsed: its UTF-8 is made once for both.

    Args:
        html: Text, or bytes that are decoded as they declare.
        make: Returns the root of its tree; it is parsed here if not given.
    """

    def __init__(self, html: str | bytes, make: Callable[[], _Element | None] | None = None) -> None:
        self._html, self._given = html, make
        self._made: tuple[_Element | None, ...] = ()

    @cached_property
    def _utf8(self) -> bytes:
        return _to_clean_utf8(self._html)

    def tree(self) -> _Element | None:
        """Return the root of its tree, None if there is nothing in it. Call it once."""
        root, self._made = self._made[0] if self._made else self._make(), ()
        self.__dict__.pop("_utf8", None)
        return root

    def is_larger(self, *, size: int, tags: int, attributes: int) -> bool:
        """Return True if it exceeds a limit: of bytes in UTF-8, of tags (every ``<`` is one), or of attributes.

        Its tree is not made for this, unless it surely holds few attributes beyond the limit.
        """
        if len(self._html) > size or (len(self._html) > tags and _count_tags(self._html) > tags):
            return True
        if isinstance(self._html, str) and _MOST_BYTES * len(self._html) > size and len(self._utf8) > size:
            return True
        # each has a letter and what parts it from the one before: most pages need no UTF-8 to be measured
        if len(self._html) <= 2 * attributes or (most := _most_attributes(self._utf8, attributes)) <= attributes:
            return False
        if most > _FEW * attributes or self._given is not None:  # nobody else's tree is made to be counted
            return int(_feed(_AttributeCounter(), self._utf8)) > attributes
        self._made = (root := self._make(),)
        return root is not None and cast("float", _ATTRIBUTES(root)) > attributes

    def _make(self) -> _Element | None:
        return _parse_utf8(self._utf8) if self._given is None else self._given()


def _count_tags(html: str | bytes) -> int:
    """Return the number of ``<``, without a copy of what may be far too large."""
    if isinstance(html, str):
        return html.count("<")
    # a search for each of many costs more than a look at every byte
    return sum(_count(part == ord("<")) for part in _parts(html))


def _most_attributes(source: bytes, at_least: int) -> int:
    """Return how many attributes there are at most: white space, a slash or a quoted value stands before each.

    If they are surely no more than ``at_least``, not all that is no attribute is told from them.
    """
    begun = quotes = 0
    if (most := sum(_count(part <= ord("/")) for part in _parts(source))) <= at_least:
        return most  # marks, in which all these are
    for part in _parts(source):
        separates = (part <= ord(" ")) | (part == ord("/"))
        begun += _count(separates[:-1] > separates[1:]) + 1  # the last letter may stand before a name
        quotes += _count(part == ord('"')) + _count(part == ord("'"))
    return begun + quotes // 2


def _parts(source: bytes) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield the bytes, some at a time: memory for what is found in all of them would cost more than to look."""
    letters = np.frombuffer(source, np.uint8)
    return (letters[start : start + _LOOKED_AT] for start in range(0, len(source), _LOOKED_AT))


def _count(places: npt.NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(places))


def has_endless_tag(source: bytes) -> bool:
    """Return True if a tag may have so many attributes that the parser takes minutes."""
    start = 0  # of a tag, or of the text before one
    while len(source) - start > _LONG_TAG_BYTES:
        end = source.rfind(b">", start, start + _LONG_TAG_BYTES + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def _limit_attributes(source: bytes) -> bytes:
    """Cut a tag's attributes beyond 2,000: libxml2's time grows with the square of their number."""
    if not has_endless_tag(source):
        return source
    parts = source.split(b">")
    return b">".join(part if len(part) <= _LONG_TAG_BYTES else _cut_attributes(part) for part in parts)


def _cut_attributes(part: bytes) -> bytes:
    start = part.rfind(b"<")
    words = part[start:].split(maxsplit=_MAX_ATTRIBUTES_PER_TAG)
    if start < 0 or not part[start + 1 : start + 2].isalpha() or len(words) <= _MAX_ATTRIBUTES_PER_TAG:
        return part  # text, or a long URL
    return part[:start] + b" ".join(words[:-1])


def _decode_as_declared(body: bytes) -> tuple[str, str] | None:
    """Return the encoding that ``body`` declares and its text; None if it declares no charset."""
    declared = read_bom(body)[0] or html_body_declared_encoding(body)
    try:
        return _decode_as(declared, body) if declared and is_charset(declared) else None
    except Exception:  # third-party codecs may raise anything
        return None


def _decode_as(encoding: str, body: bytes) -> tuple[str, str]:
    return html_to_unicode(f"charset={encoding}", body)


def _guess_encoding(body: bytes) -> str:
    """Return UTF-8 or GB18030 if nearly all of ``body`` is valid in it; else Western."""
    text = body.decode("utf-8", "replace")
    if _is_mostly_valid(text, len(text) - len(text.encode("ascii", "ignore"))):
        return "utf-8"
    text = body.decode("gb18030", "replace")
    common = len(_COMMON_HAN.findall(text))
    return "gb18030" if common > len(text) // 200 and _is_mostly_valid(text, 2 * common) else "cp1252"


def _is_mostly_valid(text: str, beyond_ascii: int) -> bool:
    """Return True if at most one in fifty of the characters ``beyond_ascii`` is invalid."""
    return text.count("\ufffd") <= beyond_ascii // 50


def _to_clean_utf8(html: str | bytes) -> bytes:
    """Return UTF-8 without lone surrogates, NUL bytes, which end a document early, and white space at the ends."""
    if isinstance(html, bytes) and is_utf8(html):
        source = html
    else:
        source = _to_utf8(decode_html(html) if isinstance(html, bytes) else html)
    if b"\0" in source:
        source = source.replace(b"\0", b"")
    source = source.strip(_SPACES)
    if source[:1] < _BEYOND_ASCII > source[-1:]:
        return source
    return source.decode().strip().encode()  # there are spaces beyond ASCII


def _to_utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_lone_surrogates(text).encode()


class _AttributeCounter:
    """A parser target that only counts attributes."""

    def __init__(self) -> None:
        self._found = 0

    def start(self, _: str, attributes: dict[str, str]) -> None:
        self._found += len(attributes)

    def end(self, _: str) -> None:
        """Ignore an end tag."""

    def close(self) -> int:
        return self._found


class _Flattener:
    """A parser target that writes the outer levels as HTML again and moves all deeper text there.

    It builds no tree: there are names in HTML of which the parser makes elements, and nobody else can.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._depth = 0
        self._raw = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= _MAX_FLATTENED_DEPTH:
            written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
            self._parts.append(f"<{tag}{written}>")
        elif tag in _RAW_TEXT:
            self._parts.append(f"<{tag}>")
        self._raw = tag in _RAW_TEXT

    def end(self, tag: str) -> None:
        if tag not in _VOID and (self._depth <= _MAX_FLATTENED_DEPTH or tag in _RAW_TEXT):
            self._parts.append(f"</{tag}>")
        self._depth -= 1
        self._raw = False

    def data(self, text: str) -> None:
        self._parts.append(text if self._raw else escape(text, quote=False))

    def close(self) -> str:
        return "".join(self._parts).translate(_NOT_IN_XML)


# --- declarative shadow roots: a browser shows an element's template, with its children in the slots

_MOST_SHADOW_ROOTS = 300  # templates
_SHADOW_SIGN = "shadowroot"
_OPENS = ("shadowrootmode", "shadowroot")


def has_shadow_roots(source: str | bytes) -> bool:
    """Return True if an HTML source may hold a declarative shadow root."""
    return _SHADOW_SIGN in source if isinstance(source, str) else _SHADOW_SIGN.encode() in source


def parse_as_shown(source: str | bytes) -> Element | None:
    """Parse a source and put what its shadow roots show in place of their templates.

    Example:
        >>> root = parse_as_shown("<x-a><template shadowrootmode=open><p>1 <slot></slot></p></template>2</x-a>")
        >>> "".join(root.itertext())
        '1 2'
    """
    root = parse(source)
    templates = [] if root is None else [one for one in root.iter("template") if any(map(one.get, _OPENS))]
    for template in reversed(templates[:_MOST_SHADOW_ROOTS]):  # those inside of others first
        _show(template)
    return root


def _show(template: Element) -> None:
    """Put the content of a template in place of the children of its host, and these into its slots."""
    host = template.getparent()
    if host is None:
        return
    children = [child for child in host if child is not template]
    text = (host.text or "") + (template.tail or "")
    for child in [*host]:
        host.remove(child)
    slots = [*template.iter("slot")]
    for slot in slots:
        name = slot.get("name", "")
        chosen = [child for child in children if isinstance(child.tag, str) and child.get("slot", "") == name]
        if not chosen and (name or not text.strip()):
            continue  # what stands in the slot itself is shown
        for child in [*slot]:
            slot.remove(child)
        slot.text = "" if name else text
        slot.extend(chosen)
        children = [child for child in children if child not in chosen]
    host.text = template.text
    host.extend([*template])
