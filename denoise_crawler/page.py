"""A page: its address, its tree (parsed once, never changed) and its nodes in document order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast
from urllib.parse import urljoin

from lxml import etree

from denoise_crawler.parsing import decode, parse, parse_flattened
from denoise_crawler.site import site_name, site_of
from denoise_crawler.text import hash64, normalised, without_lone_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lxml.etree import _Element

Element: TypeAlias = "_Element"
Boxes: TypeAlias = "Mapping[str, Sequence[float]]"

T = TypeVar("T")

TEXT = "#text"
MAX_CHARACTERS = 16_000_000
MAX_ELEMENTS = 200_000
_SHORTEST_ELEMENT = len("<p>")
DEEPEST = 2_000  # lxml drops what lies below level 2,048, and all that follows
_NEVER_TEXT = frozenset({"script", "style"})
_SKIPPED = _NEVER_TEXT | {"head", "noscript", "template"}
# Elements whose content is not for reading: pictures and media with what stands in for them, controls …
_OPAQUE = frozenset(
    {"iframe", "svg", "object", "video", "audio", "canvas"}
    | {"button", "select", "option", "datalist", "textarea"}
)
# … unless they hold one of these: then they were never closed, and the rest of the page stands in them.
_BLOCKS = ("p", "div", "table", "ul", "ol", "article", "section", "h1", "h2", "h3")
_REMEMBERED_CHARACTERS = 1_000
_FROM_THE_HOST = re.compile(r"/(?![/\s])|(?:https?:)?//[^/?#\s]")  # the page's own path does not matter


@dataclass(slots=True, eq=False)
class Nodes:
    """The nodes of a page in document order, one column per property; node 0 is the body.

    A node is an element or a non-empty run of text (``tags[i] == "#text"``). The subtree of node ``i`` is
    ``range(i, ends[i])``; ``links[i]`` is the nearest ``a`` at or above it, -1 without one; ``elements[i]``
    is the element, for text the one it stands in.
    """

    tags: list[str]
    parents: list[int]
    ends: list[int]
    texts: list[str]
    links: list[int]
    elements: list[Element]

    def __len__(self) -> int:
        return len(self.tags)

    def children(self, index: int) -> Iterator[int]:
        """Yield the indices of the children of node ``index``."""
        ends, child, end = self.ends, index + 1, self.ends[index]
        while child < end:
            yield child
            child = ends[child]


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
        self._parsed = True
        self._made: dict[Callable[[Page], object], object] = {}

    @classmethod
    def parse(cls, url: str, html: str | bytes, *, site: str | None = None, boxes: Boxes | None = None) -> Page:
        """Return the page of ``html``, which is parsed when its tree is asked for; never raises on bad HTML.

        Bytes are decoded by their own declaration.
        """
        page = cls(url, None, site=site, source=html, boxes=boxes)
        page._parsed = len(html) > MAX_CHARACTERS
        return page

    @property
    def root(self) -> Element | None:
        """The ``html`` element, None for a page without one and for one that is too large."""
        if not self._parsed:
            self._parsed = True
            self._root = parse(self._source or "")
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
        if self._too_large:
            return "too_large"
        if self.root is None:
            return "empty"
        if TEXT in self.nodes.tags:
            return None
        if next(self.root.iter("frameset"), None) is not None:
            return "frameset"
        return None if len(self.nodes) > 1 else "empty"

    @cached_property
    def _too_large(self) -> bool:
        """Tell whether the page has more characters or elements than are read: time and memory have a bound."""
        if self._source is not None and len(self._source) > MAX_CHARACTERS:
            return True
        if self._source is not None and len(self._source) <= _SHORTEST_ELEMENT * MAX_ELEMENTS:
            return False
        return self.root is not None and cast("float", self.root.xpath("count(//*)")) > MAX_ELEMENTS

    @cached_property
    def nodes(self) -> Nodes:
        """The page's nodes; only the body's when it cannot be read."""
        if self.root is None or self._too_large:
            return Nodes(["body"], [-1], [1], [""], [-1], [etree.Element("body")])
        nodes, depth = _flatten(self.root, _SKIPPED)
        if depth >= DEEPEST and self._source is not None:
            self._root = parse_flattened(self._source)
            nodes, depth = _flatten(self._root, _SKIPPED)
        return nodes if TEXT in nodes.tags or self.root is None else _hidden_nodes(self.root) or nodes

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


def _hidden_nodes(root: Element) -> Nodes | None:
    """Return the nodes of a page that broken markup hides: in head or noscript, or swallowed as raw text."""
    nodes, _ = _flatten(root, _NEVER_TEXT | {"title", "noframes"})
    if TEXT in nodes.tags:
        return nodes
    swallowed = [element.text for element in root.iter("title", "noframes") if element.text]
    inner = parse(max(swallowed, key=len)) if any("<" in text or len(text) > 500 for text in swallowed) else None
    if inner is None:
        return None
    nodes, _ = _flatten(inner, _SKIPPED)
    return nodes if TEXT in nodes.tags else None


def _flatten(root: Element, skipped: frozenset[str]) -> tuple[Nodes, int]:  # noqa: C901
    """Walk the tree once, without recursion; return its nodes and how deep it is.

    Written out in one piece: it runs for each node of each page, and calls would take longer than what they do.
    """
    nodes = Nodes(["body"], [-1], [0], [""], [-1], [root])
    tags, parents, ends, texts = nodes.tags, nodes.parents, nodes.ends, nodes.texts
    links, elements, runs = nodes.links, nodes.elements, _Runs(nodes)
    # what follows </html> stands beside the root
    children: Iterator[Element] = iter((root, *root.itersiblings("html")))
    above: list[tuple[Iterator[Element], int, Element]] = []
    swallowing: set[Element] = set()
    parent = deepest = 0
    while True:
        if (child := next(children, None)) is None:
            ends[parent] = len(tags)
            if not above:
                break
            children, parent, child = above.pop()
        elif type(tag := child.tag) is str and tag not in skipped:
            if parent == 0 and (tag == "body" or not above):  # what stands beside the body belongs to it
                index = 0
                if tag == "body":
                    elements[0] = child
            else:
                index = len(tags)
                tags.append(tag)
                parents.append(parent)
                ends.append(index + 1)
                texts.append("")
                links.append(index if tag == "a" else links[parent])
                elements.append(child)
            if tag not in _OPAQUE or _swallows(child, swallowing):
                if text := child.text:
                    if text.isspace():
                        runs.gap = True
                    else:
                        runs.add(index, text)
                if len(child):
                    above.append((children, parent, child))
                    deepest = max(deepest, len(above))
                    children, parent = iter(child), index
                    continue
            ends[index] = len(tags)
        if text := child.tail:
            if text.isspace():
                runs.gap = True
            else:
                runs.add(parent, text)
    runs.close()
    return nodes, deepest


def _swallows(opaque: Element, swallowing: set[Element]) -> bool:
    """Tell whether a block stands in ``opaque``; opaque elements around that block are noted in ``swallowing``.

    So nothing is looked through once a level: inside of ``opaque`` there is no block before the one found.
    """
    if opaque in swallowing:
        return True
    if (block := next(opaque.iter(*_BLOCKS), None)) is None:
        return False
    for element in block.iterancestors(*_OPAQUE):
        if element is opaque:
            break
        swallowing.add(element)
    return True


class _Runs:
    """Adds runs of text to ``nodes``: what only a comment or script parts is one run.

    ``gap`` says that there was white space since the last, so that no words may be glued together.
    """

    __slots__ = ("gap", "joined", "last", "nodes")

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.last = 0  # a run of text, if there is one yet
        self.gap = False
        self.joined: dict[int, list[str]] = {}  # what is to be added to runs

    def add(self, parent: int, text: str) -> None:
        """Add ``text``, not of white space alone, that stands in node ``parent``."""
        if self.gap:
            self._part()
        nodes, index = self.nodes, len(self.nodes.tags)
        if self.last == index - 1 and self.last and nodes.parents[self.last] == parent:
            self.joined.setdefault(self.last, []).append(text)
            return
        self.last = index
        nodes.tags.append(TEXT)
        nodes.parents.append(parent)
        nodes.ends.append(index + 1)
        nodes.texts.append(text)
        nodes.links.append(nodes.links[parent])
        nodes.elements.append(nodes.elements[parent])

    def close(self) -> None:
        """Finish the runs."""
        if self.gap:
            self._part()
        for index, parts in self.joined.items():
            self.nodes.texts[index] += "".join(parts)

    def _part(self) -> None:
        """Put a space between the last run and what comes."""
        self.gap = False
        texts, last = self.nodes.texts, self.last
        if last in self.joined:
            if not self.joined[last][-1][-1].isspace():
                self.joined[last].append(" ")
        elif last and not texts[last][-1].isspace():
            texts[last] += " "
