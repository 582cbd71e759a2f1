"""Gold pages as training examples: blocks with labels, each page cold and knowing some of its site."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.evaluation.gold import addresses
from denoise_crawler.evaluation.training.labels import labels
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.declared_text import declared_rows
from denoise_crawler.methods.fusion.evidence import Evidence, Words
from denoise_crawler.methods.fusion.features import page_groups, table_of
from denoise_crawler.methods.fusion.first_look import FirstLook
from denoise_crawler.methods.fusion.kinds import kind_words_of
from denoise_crawler.methods.fusion.page_type_features import traits_of
from denoise_crawler.methods.fusion.places import PLACES
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.methods.fusion.title import description_of
from denoise_crawler.methods.fusion.weights import feature_names, second_table
from denoise_crawler.methods.fusion.wishes import UNSAID, wish_columns
from denoise_crawler.page import Page
from denoise_crawler.page.text import hash64

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from denoise_crawler.evaluation.gold import GoldPage
    from denoise_crawler.methods.fusion.blocks import Blocks
    from denoise_crawler.methods.fusion.features import Columns
    from denoise_crawler.methods.fusion.trees import Table

KNOWN_PAGES = (1, 2, 4, 9)
MAX_KNOWN = 128
WARM_WEIGHT = 3.0  # what a page counts that knows its site: most pages of gold sets are alone of theirs
_WARM_SHARE = 0.35
_FULL_WEIGHT, _LEAST = 200.0, 100.0
_NEAR = 6
_FAR_SHARE = 0.2
_UNSAID_SHARE = 0.25
_COMMENT = 1 << PLACES.index("comment")
_LEAST_COMMENTS = 40.0  # tokens


@dataclass(eq=False)
class LabelledPage:
    """A page, its blocks, and which of them are content.

    ``title``, ``description`` and ``declared`` are what it says of itself, ``kind`` is what it is, if somebody
    said, ``kind_words`` are the words that may tell, ``traits`` the numbers.
    """

    site: str
    url: str
    key: int
    title: str
    description: str
    declared: NDArray[np.float32]
    blocks: Blocks
    content: NDArray[np.bool_]
    gold: str
    kind: str
    kind_words: frozenset[str]
    traits: dict[str, float]

    @property
    def weights(self) -> NDArray[np.float64]:
        """By block: its share of the page's content, long blocks and pages without much content bounded."""
        tokens = self.blocks.tokens
        return np.minimum(tokens, _FULL_WEIGHT) / (_LEAST + float(tokens[self.content].sum()))

    def evidence(self, words: Words) -> Evidence:
        """Return the evidence of the page alone."""
        kinds = words.kinds.says(self.kind_words)
        return Evidence(self.title, self.description, self.declared, kinds, self.blocks, None, words.classes)


def labelled(pages: Iterable[GoldPage]) -> Iterator[LabelledPage]:
    """Yield the pages of one site that have gold and text."""
    found = [page for page in pages if page.gold is not None]
    for gold, address in zip(found, addresses(found), strict=True):
        page = Page.parse(address, gold.html, site=gold.site)
        if page.skipped is None:
            blocks = page.once(blocks_of)
            content = labels(blocks.texts, gold.gold or "")
            yield LabelledPage(
                gold.site, page.url, page.key, page.title, description_of(page), declared_rows(page, blocks),
                blocks, content, gold.gold or "", gold.page_type or "", page.once(kind_words_of),
                traits_of(page),
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Sample:
    """The blocks of a page that are trained on, and how much each counts.

    Those near content are all in it, of the others one in five, which counts five times: training takes a third
    of the time, and the figures are the same.
    """

    blocks: NDArray[np.int64]
    counts: NDArray[np.float64]


def sample_of(page: LabelledPage) -> Sample:
    """Return the sample of a page, the same for ever."""
    count = len(page.content)
    sums, order = np.concatenate(([0], np.cumsum(page.content))), np.arange(count)
    near = sums[np.minimum(order + _NEAR + 1, count)] > sums[np.maximum(order - _NEAR, 0)]
    drawn = np.random.default_rng(page.key).random(count) < _FAR_SHARE
    return Sample(np.flatnonzero(near | drawn), np.where(near, 1.0, 1.0 / _FAR_SHARE)[near | drawn])


@dataclass(frozen=True, eq=False)
class Rows:
    """The blocks of one page that are trained on: features, whether each is content, how much it counts."""

    site: str
    table: NDArray[np.float32]
    content: NDArray[np.bool_]
    weights: NDArray[np.float64]


def _rows(page: LabelledPage, table: Table, weight: float) -> Rows:
    sample = sample_of(page)
    weights = page.weights[sample.blocks] * sample.counts * weight
    return Rows(page.site, table[sample.blocks], page.content[sample.blocks], weights)


def first_rows(page: LabelledPage, words: Words) -> Rows:
    """Return what the first look learns from ``page``."""
    groups = page_groups(page.evidence(words))
    return _rows(page, table_of(groups, feature_names().first, len(page.blocks)), 1.0)


def second_rows(site: Sequence[LabelledPage], looks: Mapping[LabelledPage, FirstLook]) -> Iterator[Rows]:
    """Yield what the second look learns from the pages of a site: cold, knowing all others, knowing a few.

    ``looks`` are the first looks at them, by trees that saw no page of the site.
    """
    for one in site:
        others = [other for other in site if other.key != one.key]
        amounts = _amounts(one, len(others))
        for known in amounts:
            site_evidence = SiteEvidence(MAX_KNOWN)
            for other in random.Random(one.key).sample(others, known):
                site_evidence.add(other.key, other.blocks, looks[other].scores)
            first = looks[one]
            evidence = first.evidence.knowing(site_evidence.standing(one.key, one.blocks))
            wishes = wishes_of(one, evidence, known)
            weight = (WARM_WEIGHT if known else 1.0) / len(amounts)
            yield _rows(one, second_table(first, evidence, wishes, feature_names().second), weight)


def wishes_of(page: LabelledPage, evidence: Evidence, known: int) -> Columns:
    """Return what whoever wrote the gold of a page must have wished; each wish is unsaid by chance.

    Asked by page: by set, the wish would only name the set.
    """
    chance = random.Random(page.key + known)
    best = evidence.headline.best
    title = float(page.content[best]) if best >= 0 else UNSAID
    wishes = (title, _comments_wish(page, chance))
    return wish_columns(
        len(page.content), *(UNSAID if chance.random() < _UNSAID_SHARE else wish for wish in wishes)
    )


def _comments_wish(page: LabelledPage, chance: random.Random) -> float:
    """Return whether readers' comments are content of a page; by chance where it has none, or is a thread."""
    blocks = page.blocks
    comments = (blocks.around.places[blocks.elements] & _COMMENT) > 0
    tokens = float(blocks.tokens[comments].sum())
    if page.kind == "forum" or tokens < _LEAST_COMMENTS:
        return float(chance.random() < 1 / 2)
    return float(blocks.tokens[comments & page.content].sum() > tokens / 2)


def _amounts(one: LabelledPage, others: int) -> list[int]:
    """Return with how many known pages to show a page: 0, all, and a few of ``KNOWN_PAGES`` by chance."""
    chance = random.Random(hash64(one.url))
    amounts = {0, min(others, MAX_KNOWN)}
    amounts.update(known for known in KNOWN_PAGES if known < others and chance.random() < _WARM_SHARE)
    return sorted(amounts)
