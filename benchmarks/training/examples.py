"""Gold pages as training examples: blocks with labels, each page cold and knowing some of its site."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree
from msgspec.structs import replace

from denoise_crawler.evaluation import GoldPage, addresses, token_sequence
from denoise_crawler.kernel.columns import PLACES, UNSAID
from denoise_crawler.kernel.names import IDEOGRAPH
from denoise_crawler.methods.fusion.blocks import blocks_of, unit_kinds
from denoise_crawler.methods.fusion.declared import declared_of, description_of
from denoise_crawler.methods.fusion.features import Forests, Look, Words
from denoise_crawler.methods.fusion.markup_words import kind_words_of
from denoise_crawler.methods.fusion.page_type import traits_of
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.methods.fusion.trees import BoostedTrees
from denoise_crawler.page import Page
from denoise_crawler.page.text import hash64

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Blocks, Numbers, Table


NO_TREES = BoostedTrees([])
KNOWN_PAGES = (1, 2, 3, 6, 12)
MAX_KNOWN = 128
WARM_WEIGHT = 2.0  # what a page counts that knows its site: most pages of gold sets are alone of theirs
_WARM_SHARE = 0.35
_FULL_WEIGHT, _LEAST = 200.0, 100.0
_NEAR = 6
_FAR_SHARE = 0.2
_UNSAID_SHARE = 0.25
_COMMENT = 1 << PLACES.index("comment")
_CHROME = sum(1 << PLACES.index(place) for place in ("nav", "footer", "aside", "form", "comment"))
_LEAST_COMMENTS = 40.0  # tokens


@dataclass(eq=False)
class LabelledPage:
    """A page, its blocks, and which of them are content.

    ``title``, ``description``, ``declared`` and ``units`` are what it says of itself, ``kind`` is what it is, if
    somebody said, ``kind_words`` are the words that may tell, ``traits`` the numbers. ``judged`` are the blocks of
    which the gold says whether they are content.
    """

    site: str
    url: str
    key: int
    title: str
    description: str
    declared: NDArray[np.float32]
    units: Numbers
    blocks: Blocks
    content: NDArray[np.bool_]
    gold: str
    kind: str
    page_type: str
    kind_words: frozenset[str]
    traits: tuple[float, ...]
    judged: NDArray[np.bool_]
    is_part: bool
    counts: float = 1.0
    has_planted_comments: bool = False

    @property
    def weights(self) -> NDArray[np.float64]:
        """By block: its share of the page's content, long blocks and pages without much content bounded."""
        tokens = self.blocks.tokens
        return self.counts * np.minimum(tokens, _FULL_WEIGHT) / (_LEAST + float(tokens[self.content].sum()))

    def look(self, words: Words, forests: Forests | None = None) -> Look:
        """Return a look at the page alone."""
        kinds = words.kinds.log_odds(self.kind_words)
        of_page = self.title, self.description, self.declared, kinds, self.units, self.blocks
        return Look(*of_page, words.classes, forests)


def labelled(
    pages: Iterable[GoldPage],
    *,
    is_part: bool = False,
    page_type: str = "",
    counts: float = 1.0,
    has_planted_comments: bool = False,
) -> Iterator[LabelledPage]:
    """Yield the pages of one site that have gold and text.

    Where the gold is only a part of the content (``is_part``), it tells nothing of other blocks, but for links and
    what stands in navigation, footers and the like. ``page_type`` is that of pages whose type nobody said.
    """
    with_gold = [page for page in pages if page.gold is not None]
    for gold, address in zip(with_gold, addresses(with_gold), strict=True):
        page = Page.parse(address, gold.html, site=gold.site)
        if page.skipped is None:
            blocks = page.once(blocks_of)
            content = labels(blocks.texts, gold.gold or "")
            judged = content | _is_chrome(blocks) if is_part else np.ones(len(blocks), bool)
            if isinstance(gold.optional, str) and gold.optional:
                judged &= content | ~labels(blocks.texts, gold.optional)
            yield LabelledPage(
                gold.site, page.url, page.key, page.title, description_of(page), declared_of(page),
                unit_kinds(page), blocks, content, gold.gold or "",
                gold.page_type or (page_type if page_type == "forum" else ""),
                gold.page_type or page_type, page.once(kind_words_of), traits_of(page), judged, is_part, counts,
                has_planted_comments,
            )  # fmt: skip


def _is_chrome(blocks: Blocks) -> NDArray[np.bool_]:
    linked = blocks.linked > blocks.characters / 2
    return linked | (blocks.around.places[blocks.elements] & _CHROME > 0)


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
    drawn = near | (np.random.default_rng(page.key).random(count) < _FAR_SHARE)
    drawn &= page.judged
    return Sample(np.flatnonzero(drawn), np.where(near, 1.0, 1.0 / _FAR_SHARE)[drawn])


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


def rows(
    site: Sequence[LabelledPage], words: Words, least_known: int = 0, first_look: BoostedTrees | None = None
) -> Iterator[Rows]:
    """Yield what is learned from the pages of a site: each cold, knowing all others, and knowing a few.

    Those that know fewer pages than ``least_known`` are left out. The rows are those of the first look, or, where
    its trees are given, of the second.
    """
    forests = None if first_look is None else Forests(first_look, NO_TREES)
    for one in site:
        others = [other for other in site if other.key != one.key]
        alone = one.look(words, forests)
        amounts = [known for known in _amounts(one, len(others)) if known >= least_known]
        for known in amounts:
            site_stats = known_site(one, others, known).site_stats_for(one.key, one.blocks)
            look = alone.knowing(site_stats, preferences_of(one, alone, known))
            yield _rows(one, look.table, WARM_WEIGHT / (len(amounts) - (0 in amounts)) if known else 1.0)


def known_site(
    page: LabelledPage,
    others: Sequence[LabelledPage],
    known: int,
    scores: Mapping[LabelledPage, Numbers] | None = None,
) -> SiteEvidence:
    """Return what so many ``others`` of the site say, drawn by the address of ``page``."""
    evidence = SiteEvidence(MAX_KNOWN)
    for other in random.Random(page.key).sample(others, known):
        evidence.add(other.key, other.blocks, np.zeros(len(other.blocks)) if scores is None else scores[other])
    return evidence


def preferences_of(page: LabelledPage, look: Look, known: int) -> tuple[float, float]:
    """Return what whoever wrote the gold of a page must have wished; each wish is unsaid by chance.

    Asked by page: by set, the wish would only name the set.
    """
    chance = random.Random(page.key + known)
    best = look.headline.best
    title = float(page.content[best]) if best >= 0 else UNSAID
    comments = _comments_wish(page, chance)
    preferences = [UNSAID if chance.random() < _UNSAID_SHARE else wish for wish in (title, comments)]
    return preferences[0], preferences[1]


def _comments_wish(page: LabelledPage, chance: random.Random) -> float:
    """Return whether readers' comments are content of a page; by chance where it has none, or is a thread."""
    if page.has_planted_comments:
        return 0.0
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


LONG = 6
_GRAM = 4
_FOUND = 0.5
_UNUSED = 0.6


def labels(texts: Sequence[str], gold: str) -> NDArray[np.bool_]:
    """Return which of a page's block ``texts`` are in its ``gold`` text, using each of its tokens once.

    Blocks of ``LONG`` tokens or more belong if half of their 4-grams do, the longest first; then shorter ones
    that stand there word for word, those nearest to the long ones first. A block whose tokens are mostly used
    up by others does not belong.
    """
    wanted = token_sequence(gold)
    unused = Counter(wanted)
    grams = set(_grams(wanted))
    whole = f" {' '.join(wanted)} "
    blocks = [token_sequence(text) for text in texts]
    belongs = np.zeros(len(blocks), bool)

    def take(index: int) -> None:
        used = Counter(blocks[index]) & unused
        if used.total() >= _UNUSED * len(blocks[index]):
            unused.subtract(used)
            belongs[index] = True

    long = [index for index, block in enumerate(blocks) if len(block) >= LONG]
    for index in sorted(long, key=lambda index: -len(blocks[index])):
        own = _grams(blocks[index])
        if sum(gram in grams for gram in own) >= _FOUND * len(own):
            take(index)
    first = np.flatnonzero(belongs)
    short = [
        index for index, block in enumerate(blocks) if 0 < len(block) < LONG and f" {' '.join(block)} " in whole
    ]
    if len(first):
        short.sort(key=lambda index: int(np.abs(first - index).min()))
    for index in short:
        take(index)
    return belongs


def _grams(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(tokens[start : start + _GRAM]) for start in range(len(tokens) - _GRAM + 1)]


# --- gold pages with noise planted inside the article, as many sites of today have it and few gold sets
# "Follow us on …", a labelled advertisement, "Read more: TITLE", "Updated on 3 May": a line that other pages have
# at the same place. Gold pages of blogs and documentation hold the opposite, headings and steps that authors
# repeat; trees that are to tell one from the other must see both.

LEAST_PAGES = 4  # of a site in which something is planted
PLANTINGS = 2  # of each site, and one more on its pages cut to SHORT paragraphs or fewer
SHORT = 3
SHORT_COUNTS = 0.3  # of another page: else they would outweigh the pages that are as they were
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


def planted(pages: Sequence[GoldPage], number: int = 0, *, short: bool = False) -> Iterator[GoldPage]:
    """Yield those pages of one site on which noise could be planted, with it; their gold stays the same.

    The same for ever: chance is drawn from the name of the site, the addresses of the pages and a ``number``. If
    the pages are to be ``short``, all but their first paragraphs go, at most ``SHORT`` stay.
    """
    with_gold = [page for page in pages if page.gold]
    if len(with_gold) < LEAST_PAGES:
        return
    chance = random.Random(hash64(f"planted {with_gold[0].site} {number}"))
    words = DrawnWords(" ".join(page.gold or "" for page in with_gold)[:_MOST_CHARACTERS])
    plants = [_plant(chance, words) for _ in range(chance.randint(1, _MOST_PLANTS))]
    for page, address in zip(with_gold, addresses(with_gold), strict=True):
        if (made := _with(plants, page, address, short=short)) is not None:
            yield made


def _with(plants: Sequence[_Plant], page: GoldPage, address: str, *, short: bool) -> GoldPage | None:
    root = Page.parse(address, page.html, site=page.site).root
    if root is None:
        return None
    paragraphs = gold_paragraphs(root, page.gold or "")
    if len(paragraphs) < _LEAST_PARAGRAPHS:
        return None
    chance = random.Random(hash64(f"planted {address}"))
    if short:
        left = chance.randint(1, SHORT)
        page = replace(page, gold=without(page.gold or "", paragraphs[left:]))
        paragraphs = paragraphs[:left]
    for plant in plants:
        beside = paragraphs[round(plant.place * (len(paragraphs) - 1))]
        if chance.random() < plant.presence and (parent := beside.getparent()) is not None:
            new = _element(plant.wrapper, *plant.parts(chance))
            new.tail, beside.tail = beside.tail, None
            parent.insert(parent.index(beside) + 1, new)
    return replace(page, html=str(etree.tostring(root, encoding="unicode", method="html")))


def gold_paragraphs(root: etree._Element, gold: str) -> list[etree._Element]:
    """Return the paragraphs of a page that stand in its gold, but for short ones."""
    written = "".join(gold.split())
    return [
        one
        for one in root.iter("p")
        if len(text := "".join("".join(map(str, one.itertext())).split())) >= _LEAST_CHARACTERS and text in written
    ]


def without(gold: str, paragraphs: Sequence[etree._Element]) -> str:
    """Remove ``paragraphs`` from their page, and return its gold without their lines."""
    removed = "".join("".join(map(str, one.itertext())) for one in paragraphs)
    removed = "".join(removed.split())
    for one in paragraphs:
        if (parent := one.getparent()) is not None:
            parent.remove(one)
    return "\n".join(line for line in gold.splitlines() if "".join(line.split()) not in removed)


def _element(wrapper: Sequence[str], text: str, linked: str) -> etree._Element:
    outer = inner = etree.Element(wrapper[0])
    for tag in wrapper[1:]:
        inner = etree.SubElement(inner, tag)
    inner.text = text
    if linked:
        link = etree.SubElement(inner, "a", href=f"/{hash64(linked):x}")
        link.text = linked
    return outer


def _plant(chance: random.Random, words: DrawnWords) -> _Plant:
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
        if kind == 2:  # a date
            return f"{label}{of_page.randint(1, 28)}.{of_page.randint(1, 12)}.20{of_page.randint(10, 26)}", ""
        if kind == 3:  # follow us, in a link
            return "", sentences[0]
        if kind == 5:  # whom a picture is by
            return f"{label if len(names) % 2 else ''}{of_page.choice(names)}", ""
        return sentences[0], ""  # on all pages the same: two kinds of seven

    return _Plant(place, wrapper, presence, parts)


class DrawnWords:
    """Words of gold texts, in an order that none of them has: signs where the language parts no words."""

    def __init__(self, gold: str) -> None:
        signs = "".join(IDEOGRAPH.findall(gold))
        self.are_signs = len(signs) > len(gold) / 3
        self._words = list(signs) if self.are_signs else gold.split()

    def draw(self, chance: random.Random, least: int, most: int) -> str:
        """Return some words, as many as asked for; twice as many signs."""
        count = chance.randint(least, most)
        if self.are_signs:
            return f"{''.join(chance.choices(self._words, k=2 * count))}。"
        return f"{' '.join(chance.choices(self._words, k=count)).rstrip('.')}."
