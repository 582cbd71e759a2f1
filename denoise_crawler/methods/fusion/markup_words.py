"""What the words in the markup of a page say: whether the text below them is content, and what type the page is.

Both are learned from gold pages: by word the log odds of content, how much more often pages of a type have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

import numpy as np

from denoise_crawler.kernel.columns import KINDS
from denoise_crawler.kernel.names import remembered, words_of
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.declared import linked_data_of
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from denoise_crawler.kernel.columns import Elements, Numbers

_STRONGEST = 10  # words count
_WORD = re.compile(r"[a-z]{3,20}")
_MOST_ELEMENTS = 3_000
_LIMIT = 6.0
_TYPE_METAS = frozenset({"og:type", "generator"})


class ClassWords(dict[str, float]):
    """Log odds by word of a class or id: what it says of the text below."""

    def __init__(self, log_odds: Mapping[str, float]) -> None:
        super().__init__(log_odds)
        self._of_names = remembered(self._sum)

    def worth(self, around: Elements) -> Numbers:
        """Return by element the sum of the log odds of its words, within ±6; 0 for words not known."""
        return np.array(list(map(self._of_names, around.names)), np.float64)[around.named]

    def _sum(self, names: str) -> float:
        return max(-_LIMIT, min(_LIMIT, fsum([self[word] for word in words_of(names) if word in self])))


class KindWords:
    """Log odds of each of ``KINDS`` by word."""

    def __init__(self, log_odds: Mapping[str, Sequence[float]]) -> None:
        self._numbers = {word: number for number, word in enumerate(log_odds)}
        self._log_odds = np.array(list(log_odds.values()), np.float64).reshape(-1, len(KINDS))
        self._of_names = remembered(lambda names: self._known(words_of(names)))

    def log_odds(self, words: Iterable[str]) -> Numbers:
        """Return by type the mean log odds of the words that are strongest evidence of it; 0 if none is known."""
        return self._mean({*self._known(words)})

    def of(self, page: Page) -> Numbers:
        """Return what the words of ``page`` say."""
        numbers = self._known(page.once(address_and_declared_words_of))
        return self._mean({*numbers}.union(*map(self._of_names, _names(page))))

    def _mean(self, numbers: set[int]) -> Numbers:
        rising = self._log_odds[list(numbers)]
        rising.sort(axis=0)
        strongest: Numbers = np.add.reduce(rising[-_STRONGEST:]) / _STRONGEST
        return strongest

    def _known(self, words: Iterable[str]) -> tuple[int, ...]:
        numbers = self._numbers
        return tuple([numbers[word] for word in words if word in numbers])


def kind_words_of(page: Page) -> frozenset[str]:
    """Return the words of a page that are evidence of its type, each with a mark of its source.

    The sources are classes and ids, the path of the address, what the page declares of itself and the types of its
    linked data.
    """
    return page.once(address_and_declared_words_of).union(*map(words_of, _names(page)))


def address_and_declared_words_of(page: Page) -> frozenset[str]:
    """Return those of these words that come from the address and from what the page declares."""
    parts = parts_of_address(page.url)
    words = {f"/{word}" for word in _WORD.findall(f"{parts.path} {parts.query}"[:1_000].lower())}
    words.update(_declared(page))
    return frozenset(words)


def _names(page: Page) -> list[str]:
    around = page.once(blocks_of).around
    return around.names[: 1 + int(around.named[:_MOST_ELEMENTS].max())]


def parts_of_address(url: str) -> SplitResult:
    """Return the parts of an address, empty ones if it is none."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _declared(page: Page) -> Iterator[str]:
    for meta in page.self_description.metas:
        name = (meta.property or meta.name).lower()
        if name in _TYPE_METAS:
            for word in _WORD.findall(meta.content[:200].lower())[:3]:
                yield f"{name}={word}"
    for kind in page.once(linked_data_of).types:
        yield f"@{kind}"
