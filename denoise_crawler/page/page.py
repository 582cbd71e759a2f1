"""A page: its URL, its tree (parsed once, never changed) and its nodes in document order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, TypeVar, cast
from urllib.parse import urljoin

from lxml import etree

from denoise_crawler.page.consent import MAX_CHARACTERS, is_consent_wall
from denoise_crawler.page.nodes import TEXT, Element, Nodes, hidden_nodes, nodes_of
from denoise_crawler.page.parsing import Markup, decode_html, has_shadow_roots, parse_as_shown, parse_flattened
from denoise_crawler.page.reading_rules import read_as_meant
from denoise_crawler.page.self_description import SelfDescription
from denoise_crawler.page.signs import compiled_hints
from denoise_crawler.page.site import site_of
from denoise_crawler.page.text import collapse_spaces, hash64, without_lone_surrogates

__all__ = ["MAX_DEPTH", "MAX_ELEMENTS", "MAX_HTML_BYTES", "TEXT", "Boxes", "Element", "Nodes", "Page"]

Boxes: TypeAlias = "Mapping[str, Sequence[float]]"

T = TypeVar("T")

# These limits bound the time and memory that a page costs: see docs/guarantees.md. Bytes are those of UTF-8.
MAX_HTML_BYTES = 8_000_000
MAX_ELEMENTS = 50_000  # counted as "<", before the page is parsed
MAX_ATTRIBUTES = 100_000
MAX_TEXT_BYTES = 1_500_000  # without markup, scripts and style sheets
MAX_DEPTH = 2_000  # lxml drops everything from level 2,048 on
_MAX_CACHED_LINK_CHARACTERS = 1_000
_PLAIN = r"[\w~%+,=&@./-]"  # what urljoin leaves as it is
_PLAIN_END = rf"(?:\?{_PLAIN}+)?(?:#{_PLAIN}+)?"
_PLAIN_URL = re.compile(rf"https?://[\w.-]+(?:/{_PLAIN}*)?{_PLAIN_END}", re.ASCII)
_PLAIN_PATH = re.compile(rf"/(?!/){_PLAIN}*{_PLAIN_END}", re.ASCII)
_RELATIVE_TO_HOST = re.compile(r"/(?![/\s])|(?:https?:)?//[^/?#\s]")


class Page:
    """One web page. Its tree may be shared and is never changed.

    Args:
        url: The URL of the page.
        root: The ``html`` element of its tree.
        site: The site; that of ``url`` if not given.
        source: The HTML that the tree comes from, if known.
        boxes: Where a browser drew elements: (left, top, width, height) in CSS pixels by XPath.
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
        self.site = site_of(url) if site is None else without_lone_surrogates(site)
        self.boxes = boxes
        self._source = source
        self._markup = None if source is None else Markup(source, lambda: root)
        self._make_tree: Callable[[], Element | None] | None = None
        self._holds_elements = True
        self._computed: dict[Callable[[Page], object], Any] = {}

    @classmethod
    def parse(cls, url: str, html: str | bytes, *, site: str | None = None, boxes: Boxes | None = None) -> Page:
        """Make a page of ``html``, which is parsed when its tree is first needed. Never raises on bad HTML.

        Args:
            url: The URL of the page.
            html: Its HTML; bytes are decoded as they declare.
            site: The site; that of ``url`` if not given.
            boxes: Where a browser drew elements, as in :class:`Page`.

        Example:
            >>> Page.parse("https://news.example/1", "<title>News</title><p>A story.").title
            'News'
        """
        page = cls(url, None, site=site, source=html, boxes=boxes)
        page._markup = Markup(html)
        page._make_tree, page._holds_elements = page._markup.tree, False
        return page

    @classmethod
    def sharing(
        cls, url: str, source: str, tree: Callable[[], Element | None], *, site: str | None = None
    ) -> Page:
        """Make a page of ``source`` with a tree that the caller owns; ``tree`` is called when it is needed.

        When others may have changed the tree, the page is read on only if it :attr:`is_intact`.
        """
        page = cls(url, None, site=site, source=source)
        page._markup = Markup(source, tree)
        page._make_tree, page._holds_elements = page._markup.tree, False
        return page

    @property
    def source(self) -> str | bytes:
        """The HTML that the tree comes from; empty if only the tree was given."""
        return self._source or b""

    @property
    def root(self) -> Element | None:
        """The ``html`` element; None if the page has none or is too large to parse.

        Whoever reads it may change the tree: from then on the nodes that are known keep their elements.
        """
        root = self.tree
        if not self._holds_elements:
            self._holds_elements = True
            if "_nodes_if_readable" in self.__dict__:
                self.nodes.hold()
        return root

    @property
    def is_intact(self) -> bool:
        """Whether the page can be read: the owner of its tree took out no element that is known and not held."""
        is_safe = self._holds_elements or "_nodes_if_readable" not in self.__dict__ or self.nodes.compiled is None
        return is_safe or self.nodes.compiled.are_in_tree()

    @property
    def tree(self) -> Element | None:
        """The ``html`` element, for code that does not change it; all other code uses :attr:`root`."""
        if self._make_tree is not None:
            make, self._make_tree = self._make_tree, None
            self._root = None if self._is_too_large else make()
            if self._root is not None and has_shadow_roots(self.source):
                self._root, self._holds_elements = parse_as_shown(self.source), False
        return self._root

    def once(self, make: Callable[[Page], T]) -> T:
        """Return ``make(page)``, computed once per page."""
        if make not in self._computed:
            self._computed[make] = make(self)
        known: T = self._computed[make]
        return known

    @property
    def markup(self) -> str:
        """The decoded HTML; empty if only the tree was given."""
        source = self._source or ""
        return decode_html(source) if isinstance(source, bytes) else source

    @cached_property
    def key(self) -> int:
        """The 64-bit hash of the URL, which identifies the page in stored knowledge."""
        return hash64(self.url)

    @cached_property
    def skipped(self) -> str | None:
        """Why the page has no readable nodes, None if it has some.

        It is ``empty``, a ``frameset``, ``too_large``, or shows nothing but a dialog that asks for ``consent``.
        """
        nodes, why = self._nodes_if_readable
        if why is not None:
            return why
        if self.tree is None:
            return "empty"
        if nodes.has_text:
            return None
        if next(self.tree.iter("frameset"), None) is not None:
            return "frameset"
        return None if len(nodes) > 1 else "empty"

    @cached_property
    def nodes(self) -> Nodes:
        """The page's nodes; only the body if the page is skipped."""
        return self._nodes_if_readable[0]

    @cached_property
    def _is_too_large(self) -> bool:
        """Tell, before parsing, whether the markup exceeds the limits."""
        markup, self._markup = self._markup, None
        if markup is not None:
            return _exceeds_limits(markup)
        if self._root is None:
            return False
        elements, attributes = (cast("float", self._root.xpath(f"count(//{kind})")) for kind in ("*", "@*"))
        return elements > MAX_ELEMENTS or attributes > MAX_ATTRIBUTES

    @cached_property
    def _nodes_if_readable(self) -> tuple[Nodes, str | None]:
        """The page's nodes; or only the body, and why the page is skipped."""
        root = None if self._is_too_large else self.tree
        nodes = None if root is None else self._readable_nodes(root)
        if nodes is not None:
            if self._holds_elements:
                nodes.hold()
            read_as_meant(nodes, self.language or "")
        why = "too_large" if self._is_too_large or root is not None else None
        characters = 0 if nodes is None else nodes.length()
        if nodes is not None and root is not None and not _has_too_much_text(nodes.texts, characters):
            if characters > MAX_CHARACTERS or not is_consent_wall(self.url, nodes, root, self.self_description):
                return nodes, None
            why = "consent"
        return Nodes(["body"], [-1], [1], [""], [-1], [etree.Element("body")]), why

    def _readable_nodes(self, root: Element) -> Nodes | None:
        """Return the nodes of the tree; None if text hidden by broken markup is too large."""
        nodes, depth = nodes_of(root, hints=compiled_hints)
        flat = parse_flattened(self._source) if depth >= MAX_DEPTH and self._source is not None else None
        if flat is not None:
            self._root = root = flat
            nodes, depth = nodes_of(root, hints=compiled_hints)
        if nodes.has_text:
            return nodes
        return hidden_nodes(root, nodes, lambda text: _exceeds_limits(Markup(text)))

    @cached_property
    def characters(self) -> list[int]:
        """By node, the number of characters in its text, without white space."""
        return self.nodes.characters()

    @cached_property
    def self_description(self) -> SelfDescription:
        """The elements by which the page says what it is."""
        return SelfDescription.of(self.tree)

    @cached_property
    def base(self) -> str:
        """The URL that the page's links are relative to."""
        bases = self.self_description.bases
        return _join_url(self.url, bases[0].get("href", "")) if bases else self.url

    def absolute(self, link: str) -> str:
        """Return ``link`` as an absolute URL; an invalid one is returned as it is."""
        if self._host and len(link) <= _MAX_CACHED_LINK_CHARACTERS and _RELATIVE_TO_HOST.match(link):
            return _join_host(self._host, link)
        return _join_url(self.base, link)

    @cached_property
    def _host(self) -> str:
        """The URL of the host, to which most links are relative; empty if it is no web URL."""
        return _host_of("/".join(self.base.split("/", 3)[:3]))

    @cached_property
    def title(self) -> str:
        """The title: ``og:title``, else the ``title`` element, else the first ``h1``."""
        declared = self.self_description
        for meta in declared.metas:
            if meta.property == "og:title" and (title := collapse_spaces(meta.content)):
                return title
        for element in (*declared.titles, *declared.headings):
            if title := collapse_spaces("".join(map(str, element.itertext()))):
                return title
        return ""

    @cached_property
    def language(self) -> str | None:
        """The language that the root or body declares in ``lang``; None if neither does."""
        if (root := self.tree) is None:
            return None
        for element in (root, *root.iterchildren("body")):
            for name in ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang"):
                if language := element.get(name, "").strip():
                    return language
        return None


@lru_cache(maxsize=1_024)
def _host_of(beginning: str) -> str:
    """Return the URL of the host of a URL, of which its beginning up to the path is given; empty of no web URL."""
    host = _join_url(beginning, "/")
    return host if host.startswith(("http://", "https://")) else ""


def _join_url(base: str, link: str) -> str:
    if _PLAIN_URL.fullmatch(link):
        return link
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return link


@lru_cache(maxsize=16_384)
def _join_host(host: str, link: str) -> str:
    """Join a template's links once, not for each page."""
    return host + link[1:] if _PLAIN_PATH.fullmatch(link) and "/." not in link else _join_url(host, link)


def _has_too_much_text(texts: list[str], characters: int) -> bool:
    if not MAX_TEXT_BYTES < 3 * characters <= 3 * MAX_TEXT_BYTES:
        return characters > MAX_TEXT_BYTES  # whatever they are
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) > MAX_TEXT_BYTES


def _exceeds_limits(markup: Markup) -> bool:
    return markup.is_larger(size=MAX_HTML_BYTES, tags=MAX_ELEMENTS, attributes=MAX_ATTRIBUTES)
