"""What the records of a page are, and the elements of a page that are alike, in which they are found."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.text import collapse_spaces

POST, ITEM = "post", "item"
MAX_NAMES = 12  # of an element
MAX_NAME_CHARACTERS = 80
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """One record of a page.

    Attributes:
        kind: ``post`` or ``item``.
        inside: The subtree that holds its text.
        left_out: Subtrees in it that are no text of the record: its user, a signature, its price.
        values: What else is known of it, by name: ``user``, ``time``, ``title``, ``price``, ``link``.
        own: Of a post, all nodes from where the one before ends.
        said: Of a post, the nodes that say its user and its time.
    """

    kind: str
    inside: range
    left_out: tuple[range, ...] = ()
    values: dict[str, str] = field(default_factory=dict)
    own: range = range(0)
    said: frozenset[int] = frozenset()


def alike_elements(page: Page) -> dict[str, list[int]]:
    """Return the elements of ``page`` by what they have in common, in document order.

    An element is in the list of each of its names: its tag with a class, with an id without its number, or with a
    property of microdata; without any of these, its tag with the names of the element it stands in.

    Example:
        >>> page = Page.parse("", "<div class='post a'>One.</div><div class='post b'>Two.</div>")
        >>> alike_elements(page)["div.post"]
        [1, 3]
    """
    nodes = page.nodes
    alike: dict[str, list[int]] = defaultdict(list)
    firsts = ["body"]
    for index, tag in enumerate(nodes.tags):
        if index == 0 or tag == TEXT:
            firsts += [""] * (index > 0)
            continue
        names = list(names_of(nodes, index)) or [f"{tag}<{firsts[nodes.parents[index]]}"[:MAX_NAME_CHARACTERS]]
        firsts.append(names[0])
        for name in names:
            alike[name].append(index)
    return alike


def names_of(nodes: Nodes, index: int) -> Iterator[str]:
    """Yield the names of an element."""
    tag, element = nodes.tags[index], nodes.elements[index]
    classes = dict.fromkeys(_DIGITS.sub("", one) for one in element.get("class", "").split()[:MAX_NAMES])
    names = [f".{name}" for name in classes if name.strip("-_")]
    identity = element.get("id", "")
    if (kind := _DIGITS.sub("", identity)) not in ("", identity):
        names.append(f"#{kind}")
    if kind := element.get("itemprop", ""):
        names.append(f"@{kind}")
    yield from (f"{tag}{name[:MAX_NAME_CHARACTERS]}" for name in names)


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
    outer: list[int] = []
    for index in indices:
        if not outer or index >= nodes.ends[outer[-1]]:
            outer.append(index)
    return outer
