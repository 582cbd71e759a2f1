"""Gold pages as training examples: blocks with labels, each page cold and knowing some of its site."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.evaluation.gold import addresses
from denoise_crawler.evaluation.training.labels import labels
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.features import Evidence, feature_names, table_of
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.page import Page
from denoise_crawler.page.text import hash64

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from denoise_crawler.evaluation.gold import GoldPage
    from denoise_crawler.methods.fusion.blocks import Blocks
    from denoise_crawler.methods.fusion.class_words import ClassWords

KNOWN_PAGES = (1, 2, 4, 9)
MAX_KNOWN = 128
_WARM_SHARE = 0.35
_FULL_WEIGHT, _LEAST = 200.0, 100.0


@dataclass(eq=False)
class LabelledPage:
    """A page, its blocks, which of them are content, and how much each counts in training."""

    site: str
    page: Page
    blocks: Blocks
    content: NDArray[np.bool_]

    @property
    def weights(self) -> NDArray[np.float64]:
        """By block: its share of the page's content, long blocks and pages without much content bounded."""
        tokens = self.blocks.tokens
        return np.minimum(tokens, _FULL_WEIGHT) / (_LEAST + float(tokens[self.content].sum()))


def labelled(pages: Iterable[GoldPage]) -> Iterator[LabelledPage]:
    """Yield the pages of one site that have gold and text."""
    found = [page for page in pages if page.gold is not None]
    for gold, address in zip(found, addresses(found), strict=True):
        page = Page.parse(address, gold.html, site=gold.site)
        if page.skipped is None:
            blocks = blocks_of(page)
            yield LabelledPage(gold.site, page, blocks, labels(blocks.texts, gold.gold or ""))


@dataclass(frozen=True, eq=False)
class Example:
    """A page's features, knowing ``known`` pages of its site."""

    page: LabelledPage
    known: int
    table: NDArray[np.float32]


def examples(site: Sequence[LabelledPage], class_words: ClassWords) -> Iterator[Example]:
    """Yield each page of a site cold, knowing all other pages, and knowing a few of them."""
    names = feature_names()
    for one in site:
        others = [other for other in site if other.page.key != one.page.key]
        for known in _amounts(one, len(others)):
            evidence = SiteEvidence(MAX_KNOWN)
            for other in random.Random(one.page.key).sample(others, known):
                evidence.add(other.page.key, other.blocks)
            standing = evidence.standing(one.page.key, one.blocks)
            evidence_of_page = Evidence(one.page, one.blocks, standing, class_words)
            yield Example(one, known, table_of(evidence_of_page, names))


def _amounts(one: LabelledPage, others: int) -> list[int]:
    """Return with how many known pages to show a page: 0, all, and a few of ``KNOWN_PAGES`` by chance."""
    chance = random.Random(hash64(one.page.url))
    amounts = {0, min(others, MAX_KNOWN)}
    amounts.update(known for known in KNOWN_PAGES if known < others and chance.random() < _WARM_SHARE)
    return sorted(amounts)
