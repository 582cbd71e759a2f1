"""The items of a list or a shop: alike elements with a link of their own that hold most of the kept text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, compress
from math import sqrt

from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.records.product import find_price

# --- what the records of a page are, and the elements of a page that are alike, in which they are found

POST, ITEM = "post", "item"
MAX_NAMES = 12  # of an element
MAX_NAME_CHARACTERS = 80
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One record of a page.

    Attributes:
        kind: ``post`` or ``item``.
        inside: The subtree that holds its text.
        left_out: Subtrees in it that are no text of the record: its user, a signature, its price.
        values: What else is known of it, by name: ``user``, ``time``, ``title``, ``price``, ``link``.
        own: Of a post, all nodes from where the one before ends.
        byline: Of a post, the nodes with its user and its time.
    """

    kind: str
    inside: range
    left_out: tuple[range, ...] = ()
    values: dict[str, str] = field(default_factory=dict)
    own: range = range(0)
    byline: frozenset[int] = frozenset()


def alike_elements(page: Page) -> dict[str, list[int]]:
    """Return the elements of ``page`` by what they have in common, in document order.

    An element is in the list of each of its names: its tag with a class, with an id without its number, or with a
    property of microdata; without any of these, its tag with the names of the element it stands in.

    Example:
        >>> page = Page.parse("", "<div class='post a'>One.</div><div class='post b'>Two.</div>")
        >>> alike_elements(page)["div.post"]
        [1, 3]
    """
    nodes, alike = page.nodes, defaultdict[str, list[int]](list)
    firsts = {0: "body"}  # by element, the first of its names
    for index, (tag, parent, names) in enumerate(zip(nodes.tags, nodes.parents, page.once(names_of), strict=True)):
        if index and tag != TEXT:
            names = names or (f"{tag}<{firsts[parent]}"[:MAX_NAME_CHARACTERS],)
            firsts[index] = names[0]
            for name in names:
                alike[name].append(index)
    return alike


def names_of(page: Page) -> list[tuple[str, ...]]:
    """Return by node the names of an element, none of a text; ask for them by ``page.once``."""
    nodes, names = page.nodes, list[tuple[str, ...]]()
    for index, tag in enumerate(nodes.tags):
        attributes = None if tag == TEXT else nodes.attributes_of(index, _HAS_PROPERTY)
        names.append(_names_of(nodes, index, tag, attributes) if attributes and any(attributes) else ())
    return names


def _names_of(nodes: Nodes, index: int, tag: str, attributes: tuple[str, str, int]) -> tuple[str, ...]:
    written, identity, has_property = attributes
    named_property = nodes.elements[index].get("itemprop", "")[:_LONGEST] if has_property else ""
    kind = _DIGITS.sub("", identity[:_LONGEST]) if identity else ""  # ids with other numbers are alike
    return _names(tag, written[:_LONGEST], "" if kind == identity[:_LONGEST] else kind, named_property)


_LONGEST = 2 * MAX_NAMES * MAX_NAME_CHARACTERS  # characters of a class: what is remembered must be bounded
_HAS_PROPERTY: Mapping[str, Callable[[str], int]] = {"itemprop": bool}


@lru_cache(maxsize=2_048)
def _names(tag: str, written: str, kind: str, named_property: str) -> tuple[str, ...]:
    classes = dict.fromkeys(_DIGITS.sub("", one) for one in written.split()[:MAX_NAMES])
    names = [f".{name}" for name in classes if name.strip("-_")]
    if kind:
        names.append(f"#{kind}")
    if named_property:
        names.append(f"@{named_property}")
    return tuple([f"{tag}{name[:MAX_NAME_CHARACTERS]}" for name in names])


def texts_of_most(nodes: Nodes, elements: Sequence[int], shortest: int = 1) -> frozenset[str]:
    """Return the texts, of at least ``shortest`` characters, that more than half of the elements hold.

    They are no words of a single post or item. A text that only two elements hold is none of them.
    """
    elements_with = Counter(
        text
        for element in elements
        for text in {collapse_spaces(text) for text in nodes.texts[element : nodes.ends[element]]}
        if len(text) >= shortest
    )
    most = max(2.0, len(elements) / 2)
    return frozenset(text for text, count in elements_with.items() if count > most)


def outermost(nodes: Nodes, indices: list[int]) -> list[int]:
    """Return those of the elements that stand in no other of them."""
    ends, outer, end = nodes.ends, list[int](), 0
    for index in indices:
        if index >= end:
            outer.append(index)
            end = ends[index]
    return outer


MIN_ITEMS = 3
_LEAST = 0.1  # likeness; below, the page is no list
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TITLE = re.compile(r"title|titel|name|headline|heading|subject", re.IGNORECASE)
_NO_PAGE = ("#", "javascript:", "mailto:", "tel:")


def find_items(page: Page, noise: list[bool] | None = None) -> list[PageRecord]:
    """Return the items of a list in document order; none if what is kept of the page has no list.

    Example:
        >>> item = "<li class=item><a href=/{0}>Lamp {0}</a> <b>{0}.50 €</b><p>A lamp for the desk.</li>"
        >>> html = "<ul>" + "".join(item.format(number) for number in range(3)) + "</ul>"
        >>> [record.values["price"] for record in find_items(Page.parse("https://a.example/", html))]
        ['0.50 €', '1.50 €', '2.50 €']
    """
    nodes, sums = page.nodes, _TextSums(page, noise)
    best, items = _LEAST, list[int]()
    for members in page.once(alike_elements).values():
        candidates = [index for index in outermost(nodes, members) if sums.kept_in(index)]
        if len(candidates) >= MIN_ITEMS and (likeness := sums.likeness(candidates)) > best:
            best, items = likeness, candidates
    often = texts_of_most(nodes, items)
    return [_item(page, item, often) for item in items]


class _TextSums:
    """Counts kept characters and links along the nodes of a page."""

    def __init__(self, page: Page, noise: list[bool] | None) -> None:
        self._ends = page.nodes.ends
        gone = noise or [False] * len(page.nodes)
        kept = (0 if is_noise else count for count, is_noise in zip(page.characters, gone, strict=True))
        self._kept = list(accumulate(kept, initial=0))
        links = _links(page.nodes)
        self._links_before = list(accumulate(map(bool, links), initial=0))
        self._links = list(compress(links, links))

    def kept_in(self, index: int) -> int:
        return self._kept[self._ends[index]] - self._kept[index]

    def likeness(self, items: Sequence[int]) -> float:
        """Return from 0 to 1 how much elements look like a list's items: most text, alike in size, a link each."""
        sizes = [self.kept_in(item) for item in items]
        held = sum(sizes)
        even = sqrt(held * held / (len(sizes) * sum(size * size for size in sizes)))
        return held / self._kept[-1] * even * self._own_links(items)

    def _own_links(self, items: Sequence[int]) -> float:
        """Return the share of items with one link that no other item has, weighted by its number of links."""
        before = self._links_before
        links = [set(self._links[before[item] : before[self._ends[item]]]) for item in items]
        times = Counter(href for own in links for href in own)
        single = (sum(times[href] == 1 for href in own) for own in links)
        return sum(1.0 / sqrt(count) for count in single if count) / (len(items) + 2)


def _links(nodes: Nodes) -> list[str]:
    """Return by node the address of the link that begins there, an empty string where none does."""
    return [
        href if tag == "a" and (href := element.get("href", "").strip()) and not href.startswith(_NO_PAGE) else ""
        for tag, element in zip(nodes.tags, nodes.elements, strict=True)
    ]


def _item(page: Page, item: int, often: frozenset[str]) -> PageRecord:
    nodes = page.nodes
    inside = range(item, nodes.ends[item])
    texts = [
        index
        for index in inside
        if nodes.tags[index] == TEXT and (line := _line(nodes, index)) and line not in often
    ]
    priced = [index for index in texts if find_price(_line(nodes, index))]
    title = _title(nodes, inside, [index for index in texts if index not in priced])
    link = _link(nodes, inside, title)
    written = {
        "title": " ".join(_line(nodes, index) for index in title if nodes.tags[index] == TEXT),
        "link": page.absolute(nodes.elements[link].get("href", "")) if link >= 0 else "",
        "price": find_price(_line(nodes, priced[0])) if priced else "",
    }
    values = {name: collapse_spaces(value) for name, value in written.items() if value}
    return PageRecord(ITEM, inside, tuple(_left_out(nodes, inside, often, title, priced[:1])), values)


def _title(nodes: Nodes, inside: range, texts: Sequence[int]) -> range:
    """Return the nodes of the title: a heading, what is named so, else the longest linked or the first text."""
    for is_title in (_is_heading, _is_named_title):
        for index in inside[1:]:
            end = nodes.ends[index]
            if is_title(nodes, index) and bisect_left(texts, end) > bisect_left(texts, index):
                return range(index, end)
    linked = [index for index in texts if nodes.links[index] >= 0]
    best = max(linked, key=lambda index: len(nodes.texts[index]), default=texts[0] if texts else -1)
    return range(best, best + 1) if best >= 0 else range(0)


def _is_heading(nodes: Nodes, index: int) -> bool:
    return nodes.tags[index] in _HEADINGS


def _is_named_title(nodes: Nodes, index: int) -> bool:
    return nodes.tags[index] != TEXT and bool(_TITLE.search(nodes.elements[index].get("class", "")))


def _link(nodes: Nodes, inside: range, title: range) -> int:
    """Return the link of the title, else the first of the item; -1 without one."""
    for part in (title, inside):
        for index in part:
            if nodes.links[index] >= 0:
                return nodes.links[index]
    return -1


def _left_out(
    nodes: Nodes, inside: range, often: frozenset[str], title: range, priced: Sequence[int]
) -> Iterator[range]:
    end = inside.start + 1
    for index in inside:
        if index >= end and (index == title.start or index in priced or _line(nodes, index) in often):
            end = nodes.ends[index]
            yield range(index, end)


def _line(nodes: Nodes, index: int) -> str:
    return collapse_spaces(nodes.texts[index])
