"""``fusion``: page evidence and site evidence in one judgement, from a single page on."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import DEFINITIONS, TABLE, UNITS, Parts
from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.fusion import record_blocks
from denoise_crawler.methods.fusion.blocks import ENTRIES, NO_PARTS, blocks_of, parts_of
from denoise_crawler.methods.fusion.declared import linked_data_of
from denoise_crawler.methods.fusion.features import KEEP, LEAVE, Look, Wishes
from denoise_crawler.methods.fusion.reasons import Decision, judgement_of
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.methods.fusion.weights import model_of_file, shipped_model
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from denoise_crawler.kernel.columns import Flags, Numbers

MAX_PAGES = 128
_NEVER = -20.0  # log odds of cards of other products, and of the lines that say who wrote a post
_WITH_SECTION = -1.4  # log odds of a heading that is kept if its section is
_EVERYWHERE = -3.0  # added to log odds of prose that stands on every page
_LEAST_PROSE, _MOST_LINKED = 60, 0.3  # characters, the share of them in links
_KEPT, _DOUBTED = 0.6, -1.8  # log odds that a box at the end of an article gets, and that it must have
_PARAGRAPHS, _LEAST_BOX, _MOST_OF_BOX = 2, 8, 4  # of an article; tokens of prose, blocks
_TABLES = TABLE, DEFINITIONS
_USUAL, _FORM = 0.8, 3  # of the other pages have a text; so many of these between text of a page make it a form
_OF_FORMS = "article", "documentation"  # types of pages that can be filled-in forms
REPEATING = ("forum", "documentation")  # types of pages that quote themselves: a post in its answer, a step again


class Fusion(Method):
    """Content is the set of text blocks that promises the best F1, by boosted trees over page and site evidence.

    Of a site at most ``max_pages`` pages are kept, as sketches. ``title`` and ``comments`` say whether these are
    in the text (``keep`` or ``leave``), ``favour`` whether a text with less noise (``precision``) or with less
    missing (``recall``) is better where a block is in doubt. The trees were trained on gold pages of other sites
    (``python -m benchmarks.training``); ``weights`` is a file of others. See
    ``docs/how-it-decides.md``.
    """

    name: ClassVar[str] = "fusion"
    learns: ClassVar[bool] = True
    needs_others: ClassVar[bool] = True
    is_sure: ClassVar[bool] = True
    # the learning curve is flat from two other pages on; fields and texts that stand everywhere need five
    warmup_pages: ClassVar[int] = 6

    def __init__(
        self,
        *,
        max_pages: int = MAX_PAGES,
        title: str = KEEP,
        comments: str = LEAVE,
        favour: str = "balanced",
        weights: Path | str | None = None,
    ) -> None:
        self.wishes = Wishes(title, comments, favour)
        self.model = shipped_model() if weights is None else model_of_file(str(weights))
        self.evidence = SiteEvidence(max_pages)
        self.sample = self.evidence.sample

    def novelty(self, page: Page) -> float:
        """Return the share of the text of ``page`` on paths that the evidence does not know."""
        return self.evidence.novelty(page.once(blocks_of))

    def observe(self, page: Page) -> None:
        """Add ``page`` to the evidence."""
        if self.wants(page):
            look = page.once(self.model.alone)
            self.evidence.add(page.key, look.blocks, look.scores)

    def merge(self, other: Self) -> None:
        """Add the pages of ``other``'s evidence."""
        self.evidence.merge(other.evidence)

    def to_bytes(self) -> bytes:
        """Write the evidence."""
        return self.evidence.to_bytes()

    def merge_bytes(self, data: bytes) -> None:
        """Add the pages of written evidence."""
        self.evidence.merge_bytes(data)

    def judge(self, page: Page) -> Judgement:
        """Mark all blocks but those to take."""
        alone = page.once(self.model.alone)
        blocks = alone.blocks
        look = alone.knowing(self.evidence.site_stats_for(page.key, blocks), self.wishes.columns)
        fields = record_blocks.record_fields(look)
        page_type = self.model.page_type(page, look, has_fields=fields is not None)
        because = {} if fields is None else {record_blocks.FIELD: fields}
        parts = page.once(parts_of)
        scores = look.scores
        if look.site_stats is not None:
            may_be_form = page_type.name in _OF_FORMS
            scores = _no_higher(page, alone, _no_lower(look, alone, parts, may_be_form=may_be_form))
        if page_type.name == "article":
            scores = scores.copy()
            scores[_prose_everywhere(look, parts)] += _EVERYWHERE
            scores[_last_box(look, scores)] = _KEPT
        if page_type.may_be_product:
            related = record_blocks.related_products(look)
            because[record_blocks.VALUE] = record_blocks.product_values(look, page.once(linked_data_of).values)
            because = {reason: wanted & ~related for reason, wanted in because.items()}
            if page_type.name == "product":  # a collection is made of cards
                scores = np.where(related, _NEVER, scores)
        if page_type.name == "forum":
            chances = 1.0 / (1.0 + np.exp(-scores - page_type.shift))
            because[record_blocks.POST], heads = record_blocks.posts(page, look, chances)
            scores = np.where(heads, _NEVER, scores)
            before = np.concatenate(([0], np.cumsum(heads)))
            whole = before[parts.units[:, 1]] == before[parts.units[:, 2]]  # a table of posts is laid out as one
            parts = replace(parts, units=parts.units[whole])
        if self.wishes.comments == KEEP:
            because[record_blocks.COMMENT] = record_blocks.comments(look)
        decision = decide(
            look, self.wishes, parts, because, scores, shift=page_type.shift,
            repeating=page_type.name in REPEATING, tables_alone=page_type.name == "product",
        )  # fmt: skip
        return judgement_of(page, decision, self.model.confidence(decision.choice.expected), page_type.name)


def _no_lower(look: Look, alone: Look, parts: Parts, *, may_be_form: bool) -> Numbers:
    """Return the scores of a ``look`` that knows the site, some of them no lower than those of the page ``alone``.

    Pages of one kind have the same labels and often the same values in their tables, and the same headings: that
    others have them says nothing against them. A heading that the page alone takes is kept with its section, not
    for itself.
    """
    best, known = look.headline.best, look.scores.tolist()
    headings = [range(first, last) for first, last, _ in parts.headings.tolist() if not first <= best < last]
    tables = [block for kind, *ends in parts.units.tolist() if UNITS[kind] in _TABLES for block in range(*ends)]
    low = [heading for heading in headings if min(known[heading.start : heading.stop]) < _WITH_SECTION]
    form = _of_form(look, alone, headings) if may_be_form else []
    wanted = [*{*tables, *chain(*low), *form}]
    if not wanted:
        return look.scores
    of_page = dict(zip(wanted, alone.scores_of(np.array(wanted)).tolist(), strict=True))
    scores = look.scores.copy()
    for block in (*tables, *[block for block in form if of_page[block] > 0.0]):
        scores[block] = max(known[block], of_page[block])
    for heading in low:
        if min(map(of_page.__getitem__, heading)) > 0.0:
            for block in heading:
                scores[block] = max(scores[block], _WITH_SECTION)
    return scores


def _of_form(look: Look, alone: Look, headings: Sequence[range]) -> list[int]:
    """Return what a page that is a filled-in form shares with other pages; nothing if it is none.

    It is one if three texts and more that most of the others have, and that the page alone takes, stand behind
    text of its own, or head such text.
    """
    blocks, site_stats, best = look.blocks, look.site_stats, look.headline.best
    assert site_stats is not None  # noqa: S101
    own = (site_stats.masked == 0.0) & (blocks.tokens >= _LEAST_BOX)
    usual, heads = site_stats.texts >= _USUAL * site_stats.pages, np.zeros(len(own), bool)
    if best >= 0:
        own[best], usual[best] = True, False
    heads[[heading.start for heading in headings]] = True
    either = (own | usual).nonzero()[0]
    for is_sure in (False, True):
        if is_sure:
            either = either[(alone.scores_of(either) > 0.0) | (either == best)]
        before, behind, is_own = either[:-1], either[1:], own[either]
        labels = behind[is_own[:-1] > is_own[1:]], before[heads[before] & (is_own[:-1] < is_own[1:])]
        if len({*blocks.text_hashes[np.concatenate(labels)].tolist()}) < _FORM:
            return []
    return site_stats.masked.nonzero()[0].tolist()


def _no_higher(page: Page, alone: Look, scores: Numbers) -> Numbers:
    """Return ``scores``, those of a table of contents no higher than those of the page ``alone``.

    Its entries differ from page to page as text does. They are links to places on the page itself.
    """
    blocks, nodes = alone.blocks, page.nodes
    linked = ((blocks.linked >= blocks.characters) & (scores > _WITH_SECTION)).nonzero()[0]
    links = zip(linked.tolist(), map(nodes.link_of, blocks.starts[linked].tolist()), strict=True)
    entries = [block for block, link in links if link >= 0 and (nodes.address_of(link) or "").startswith("#")]
    if len(entries) >= ENTRIES:
        scores = scores.copy()
        scores[entries] = np.minimum(scores[entries], alone.scores_of(np.array(entries)))
    return scores


def _prose_everywhere(look: Look, parts: Parts) -> list[int]:
    """Return the long texts on four of five pages of the site: disclaimers, appeals, what a blog is about.

    Short articles make them most of the text, and worth their doubt. What tables, boxes and sections of documents
    share is their form.
    """
    characters, linked = look.blocks.characters, look.blocks.linked
    prose = (look.everywhere & (characters >= _LEAST_PROSE) & (linked < _MOST_LINKED * characters)).nonzero()[0]
    if not len(prose):
        return []
    form = [range(first, last) for _, first, last in parts.units.tolist()]
    for first, last, end in parts.headings.tolist():
        form.append(range(first, last if first <= look.headline.best < last else end))
    return sorted({*prose.tolist()}.difference(*form))


def _last_box(look: Look, scores: Numbers) -> list[int]:
    """Return the prose of a box behind the last paragraph of an article, in the same element: facts, a remark.

    What follows an article is seldom part of it, so the trees doubt it. A box that asks nothing of the reader, has
    no link and stands on this page alone is a part.
    """
    blocks, around = look.blocks, look.blocks.around
    likely = ((scores > 0.0) & (blocks.tokens >= _LEAST_BOX)).nonzero()[0][-_PARAGRAPHS:].tolist()
    if len(likely) < _PARAGRAPHS:
        return []
    before, *_, last = likely
    element = int(blocks.elements[last])
    while around.first[element] > before:
        element = int(around.parents[element])
    box = []
    for block in range(last + 1, min(int(around.last[element]), last + 1 + _MOST_OF_BOX)):
        is_elsewhere = look.site_stats is not None and look.site_stats.texts[block] > 0.0
        if is_elsewhere or blocks.linked[block] > 0.0 or "©" in blocks.texts[block] or look.asks(block):
            break
        if scores[block] > _DOUBTED and blocks.tokens[block] >= _LEAST_BOX:
            box.append(block)
    return box


def decide(
    look: Look,
    wishes: Wishes,
    parts: Parts = NO_PARTS,
    because: dict[str, Flags] | None = None,
    scores: Numbers | None = None,
    *,
    shift: float = 0.0,
    repeating: bool = True,
    tables_alone: bool = False,
) -> Decision:
    """Decide what to take of a page.

    Args:
        look: What the trees see of it.
        wishes: What is wished of the text.
        parts: What belongs together.
        because: Blocks that are taken in any case, by the reason.
        scores: The log odds of blocks, if they are others than those of ``look``.
        shift: What is added to the log odds of all blocks before the cut, for pages of this type.
        repeating: Whether what stands there twice is taken twice.
        tables_alone: Whether what stands around a table says nothing of it: on pages of products, prices, buttons
            and tabs do.

    """
    because = because or {}
    wanted = np.zeros(len(look.blocks), bool)
    for some in because.values():
        wanted |= some
    scores, judged = look.scores if scores is None else scores, parts
    if tables_alone:
        units = parts.units.copy()
        units[units[:, 0] == UNITS.index(TABLE), 0] = UNITS.index(DEFINITIONS)
        judged = replace(parts, units=units)
    choice = kernel.active.decide(
        look.blocks, scores, look.site_stats, judged, wanted, wishes.shift, wishes.title == KEEP,
        look.headline.sure, shift, repeating,
    )  # fmt: skip
    return Decision(look, parts, because, choice)


# --- ``one_look``: what ``fusion`` says of a page alone, without its site


class OneLook(Method):
    """Content is the set of text blocks that promises the best F1, by boosted trees over the page's evidence.

    It knows nothing of the site, says nothing of the type of the page, and leaves the posts of a thread and the
    rows of a table to their own chances. See ``docs/methods.md`` for what that costs and gives.

    Args:
        title: Whether the title is in the text (``keep`` or ``leave``).
        favour: Whether a text with less noise (``precision``) or with less missing (``recall``) is better where a
            block is in doubt, or neither (``balanced``).
        weights: A file of weights other than those that come with the package.

    Raises:
        ValueError: ``title`` or ``favour`` is another word.
        WeightsError: ``weights`` cannot be read.

    """

    name: ClassVar[str] = "one_look"
    is_sure: ClassVar[bool] = True

    def __init__(self, *, title: str = KEEP, favour: str = "balanced", weights: Path | str | None = None) -> None:
        self.wishes = Wishes(title, favour=favour)
        self.model = shipped_model() if weights is None else model_of_file(str(weights))

    def judge(self, page: Page) -> Judgement:
        """Mark all blocks but those to take."""
        look = page.once(self.model.alone).knowing(None, self.wishes.columns)
        decision = decide(look, self.wishes)
        return judgement_of(page, decision, self.model.confidence(decision.choice.expected))
