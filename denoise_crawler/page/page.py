"""A page: its address, its tree (parsed once, never changed) and its nodes in document order."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast
from urllib.parse import urljoin

from lxml import etree

from denoise_crawler.page.nodes import TEXT, Element, Nodes, hidden_nodes, nodes_of
from denoise_crawler.page.parsing import decode, is_larger, parse, parse_flattened
from denoise_crawler.page.site import site_name, site_of
from denoise_crawler.page.text import hash64, normalised, without_lone_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["DEEPEST", "MAX_CHARACTERS", "MAX_ELEMENTS", "TEXT", "Boxes", "Element", "Nodes", "Page"]

Boxes: TypeAlias = "Mapping[str, Sequence[float]]"

T = TypeVar("T")

# What is read of a page has bounds, so that what it costs has some: see docs/guarantees.md.
MAX_CHARACTERS = 8_000_000  # of the HTML, in UTF-8 bytes
MAX_ELEMENTS = 40_000  # counted as "<", before the page is parsed
MAX_ATTRIBUTES = 100_000
MAX_TEXT = 1_500_000  # of what is no markup, script or style sheet, in UTF-8 bytes
DEEPEST = 2_000  # lxml drops what lies below level 2,048, and all that follows
_REMEMBERED_CHARACTERS = 1_000
_FROM_THE_HOST = re.compile(r"/(?![/\s])|(?:https?:)?//[^/?#\s]")  # the page's own path does not matter


class Page:
    """One web page. Its tree (``root``, the ``html`` element) may be shared and is never changed.

    ``boxes`` says where a browser drew elements: (left, top, width, height) in CSS pixels by XPath.

    ``skipped`` names why the page has no nodes (``empty``, ``frameset``, ``too_large``), None for a page
    that has some.
    """

    def __init__(
        self,
        url: str,
        root: Element | None,
        *,
        site: str | None = None,
        source: str | bytes | None = None,
        boxes: Boxes | None = None,
    ) -> None:
        self.url = without_lone_surrogates(url)
        self._root = root
        self.site = site_of(url) if site is None else site_name(site)
        self.boxes = boxes
        self._source = source
        self._tree: Callable[[], Element | None] | None = None
        self._made: dict[Callable[[Page], object], object] = {}

    @classmethod
    def parse(cls, url: str, html: str | bytes, *, site: str | None = None, boxes: Boxes | None = None) -> Page:
        """Return the page of ``html``, which is parsed when its tree is asked for; never raises on bad HTML.

        Bytes are decoded by their own declaration.
        """
        page = cls(url, None, site=site, source=html, boxes=boxes)
        page._tree = partial(parse, html)
        return page

    @classmethod
    def sharing(
        cls, url: str, source: str, tree: Callable[[], Element | None], *, site: str | None = None
    ) -> Page:
        """Return the page of ``source`` whose ``tree`` is somebody else's; it is asked for when it is read."""
        page = cls(url, None, site=site, source=source)
        page._tree = tree
        return page

    @property
    def root(self) -> Element | None:
        """The ``html`` element, None for a page without one and for one that is too large to be parsed."""
        if self._tree is not None:
            tree, self._tree = self._tree, None
            self._root = None if self._beyond_limits else tree()
        return self._root

    def once(self, make: Callable[[Page], T]) -> T:
        """Return ``make(page)``, worked out when it is first asked for, so that no two layers do it each."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("T", self._made[make])

    @property
    def markup(self) -> str:
        """The page's HTML, decoded; empty if only its tree was given."""
        source = self._source or ""
        return decode(source) if isinstance(source, bytes) else source

    @cached_property
    def key(self) -> int:
        """What the page is known by in its site's tree: a 64-bit hash of its address."""
        return hash64(self.url)

    @cached_property
    def skipped(self) -> str | None:
        """Return why nothing can be read here, or None."""
        nodes, too_large = self._walked
        if too_large:
            return "too_large"
        if self.root is None:
            return "empty"
        if TEXT in nodes.tags:
            return None
        if next(self.root.iter("frameset"), None) is not None:
            return "frameset"
        return None if len(nodes) > 1 else "empty"

    @property
    def nodes(self) -> Nodes:
        """The page's nodes; only the body's when it cannot be read."""
        return self._walked[0]

    @cached_property
    def _beyond_limits(self) -> bool:
        """Tell, before anything is parsed, whether there is more markup than is read."""
        if self._source is not None:
            return _has_too_much(self._source)
        if self._root is None:
            return False
        elements, attributes = (cast("float", self._root.xpath(f"count(//{kind})")) for kind in ("*", "@*"))
        return elements > MAX_ELEMENTS or attributes > MAX_ATTRIBUTES

    @cached_property
    def _walked(self) -> tuple[Nodes, bool]:
        """The page's nodes, and whether the page is too large; then they are only the body's."""
        nothing = Nodes(["body"], [-1], [1], [""], [-1], [etree.Element("body")])
        if self._beyond_limits or self.root is None:
            return nothing, self._beyond_limits
        found = self._readable_nodes(self.root)
        if found is None or _is_too_long(found.texts):
            return nothing, True
        return found, False

    def _readable_nodes(self, root: Element) -> Nodes | None:
        """Return the nodes of the tree; None if what broken markup hides in it is too large."""
        nodes, depth = nodes_of(root)
        if depth >= DEEPEST and self._source is not None:
            self._root = root = parse_flattened(self._source)
            nodes, depth = nodes_of(root)
        return nodes if TEXT in nodes.tags else hidden_nodes(root, nodes, _has_too_much)

    @cached_property
    def characters(self) -> list[int]:
        """By node, the characters of its text that are no white space."""
        return [len("".join(text.split())) if text else 0 for text in self.nodes.texts]

    @cached_property
    def base(self) -> str:
        """The address that the page's links are relative to."""
        base = next(self.root.iter("base"), None) if self.root is not None else None
        return _join(self.url, base.get("href", "")) if base is not None else self.url

    def absolute(self, link: str) -> str:
        """Return ``link`` as an absolute URL; what cannot be joined comes back as it is."""
        if self._host and len(link) <= _REMEMBERED_CHARACTERS and _FROM_THE_HOST.match(link):
            return _joined_with_host(self._host, link)
        return _join(self.base, link)

    @cached_property
    def _host(self) -> str:
        """The address of the host, which is all that most links are relative to; empty if it is no web address."""
        host = _join(self.base, "/")
        return host if host.startswith(("http://", "https://")) else ""

    @cached_property
    def title(self) -> str:
        """The title the page gives itself: ``og:title``, else its ``title`` element, else its first ``h1``."""
        if self.root is None:
            return ""
        for meta in self.root.iter("meta"):
            if meta.get("property") == "og:title" and (title := normalised(meta.get("content", ""))):
                return title
        for tag in ("title", "h1"):
            for element in self.root.iter(tag):
                if title := normalised("".join(map(str, element.itertext()))):
                    return title
        return ""

    @cached_property
    def language(self) -> str | None:
        """The language the page declares (``lang`` of its root or body), None if it says nothing."""
        if self.root is None:
            return None
        for element in (self.root, *self.root.iterchildren("body")):
            for name in ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang"):
                if language := element.get(name, "").strip():
                    return language
        return None


def _join(base: str, link: str) -> str:
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return link


# a template's links are joined once, not for each page
_joined_with_host = lru_cache(maxsize=16_384)(_join)


def _is_too_long(texts: list[str]) -> bool:
    characters = sum(map(len, texts))
    if 3 * characters <= MAX_TEXT:
        return False
    return characters > MAX_TEXT or sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) > MAX_TEXT


def _has_too_much(source: str | bytes) -> bool:
    return is_larger(source, size=MAX_CHARACTERS, tags=MAX_ELEMENTS, attributes=MAX_ATTRIBUTES)
