"""Gold pages with noise planted inside the article, as many sites of today have it and few gold sets.

"Follow us on …", a labelled advertisement, "Read more: TITLE", "Updated on 3 May": a line that other pages have
at the same place. Gold pages of blogs and documentation hold the opposite, headings and steps that authors repeat;
trees that are to tell one from the other must see both.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lxml import etree
from msgspec.structs import replace

from denoise_crawler.evaluation.gold import GoldPage, addresses
from denoise_crawler.methods.fusion.blocks import IDEOGRAPH
from denoise_crawler.page import Page
from denoise_crawler.page.text import hash64

LEAST_PAGES = 4  # of a site in which something is planted
PLANTINGS = 2  # of each site
LEAST_KNOWN = 2  # pages known, below which nobody can tell
_LEAST_CHARACTERS = 30  # of a paragraph beside which it is planted
_LEAST_PARAGRAPHS = 3
_MOST_PLANTS = 3
_MOST_CHARACTERS = 100_000
_WRAPPERS = (("p",), ("p",), ("p", "em"), ("p", "strong"), ("div",), ("div", "span"), ("aside", "p"))


@dataclass(frozen=True)
class _Plant:
    """What is planted on the pages of a site: where, in what, on how many of them, and what by page."""

    place: float
    wrapper: tuple[str, ...]
    presence: float
    parts: Callable[[random.Random], tuple[str, str]]  # the text before a link, and that of the link


def planted(pages: Sequence[GoldPage], number: int = 0) -> Iterator[GoldPage]:
    """Yield those pages of one site on which noise could be planted, with it; their gold stays the same.

    The same for ever: chance is drawn from the name of the site, the addresses of the pages and a ``number``.
    """
    found = [page for page in pages if page.gold]
    if len(found) < LEAST_PAGES:
        return
    chance = random.Random(hash64(f"planted {found[0].site} {number}"))
    words = _Words(" ".join(page.gold or "" for page in found)[:_MOST_CHARACTERS])
    plants = [_plant(chance, words) for _ in range(chance.randint(1, _MOST_PLANTS))]
    for page, address in zip(found, addresses(found), strict=True):
        if (html := _with(plants, page, address)) is not None:
            yield replace(page, html=html)


def _with(plants: Sequence[_Plant], page: GoldPage, address: str) -> str | None:
    root = Page.parse(address, page.html, site=page.site).root
    if root is None:
        return None
    gold = "".join((page.gold or "").split())
    paragraphs = [
        one
        for one in root.iter("p")
        if len(text := "".join("".join(map(str, one.itertext())).split())) >= _LEAST_CHARACTERS and text in gold
    ]
    if len(paragraphs) < _LEAST_PARAGRAPHS:
        return None
    chance = random.Random(hash64(f"planted {address}"))
    for plant in plants:
        beside = paragraphs[round(plant.place * (len(paragraphs) - 1))]
        if chance.random() < plant.presence and (parent := beside.getparent()) is not None:
            new = _element(plant.wrapper, *plant.parts(chance))
            new.tail, beside.tail = beside.tail, None
            parent.insert(parent.index(beside) + 1, new)
    return str(etree.tostring(root, encoding="unicode", method="html"))


def _element(wrapper: Sequence[str], text: str, linked: str) -> etree._Element:
    outer = inner = etree.Element(wrapper[0])
    for tag in wrapper[1:]:
        inner = etree.SubElement(inner, tag)
    inner.text = text
    if linked:
        link = etree.SubElement(inner, "a", href=f"/{hash64(linked):x}")
        link.text = linked
    return outer


def _plant(chance: random.Random, words: _Words) -> _Plant:
    """Draw what is planted on a site."""
    place = chance.choice((0.0, 0.3, 0.5, 0.7, 1.0, 1.0))
    wrapper = chance.choice(_WRAPPERS)
    presence = chance.choice((0.5, 0.8, 1.0, 1.0))
    kind = chance.randrange(7)
    label = f"{words.draw(chance, 1, 3)}{chance.choice((':', ' –', ''))} "
    sentences = [words.draw(chance, 5, 25) for _ in range(chance.randint(3, 6))]
    names = [words.draw(chance, 2, 6) for _ in range(chance.randint(3, 8))]

    def parts(of_page: random.Random) -> tuple[str, str]:
        if kind == 0:  # read more
            return label, words.draw(of_page, 4, 12)
        if kind == 1:  # advertisements in turn
            return of_page.choice(sentences), ""
        if kind == 5:  # whom a picture is by
            return f"{label if len(names) % 2 else ''}{of_page.choice(names)}", ""
        if kind == 2:  # a date
            return f"{label}{of_page.randint(1, 28)}.{of_page.randint(1, 12)}.20{of_page.randint(10, 26)}", ""
        if kind == 3:  # follow us, in a link
            return "", sentences[0]
        return sentences[0], ""

    return _Plant(place, wrapper, presence, parts)


class _Words:
    """Words of gold texts, in an order that none of them has: signs where the language parts no words."""

    def __init__(self, gold: str) -> None:
        self._signs = len("".join(IDEOGRAPH.findall(gold))) > len(gold) / 3
        self._words = IDEOGRAPH.findall(gold) if self._signs else gold.split()
        if self._signs:
            self._words = list("".join(self._words))

    def draw(self, chance: random.Random, least: int, most: int) -> str:
        """Return some words, as many as asked for; twice as many signs."""
        count = chance.randint(least, most)
        if self._signs:
            return f"{''.join(chance.choices(self._words, k=2 * count))}。"
        return f"{' '.join(chance.choices(self._words, k=count)).rstrip('.')}."
