"""Rules on the scores of the trees: what a page's shape says that no column does."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.kernel.columns import DEFINITIONS, TABLE, UNITS
from denoise_crawler.methods.fusion.blocks import ENTRIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.kernel.columns import Numbers, Parts
    from denoise_crawler.methods.fusion.features import Look
    from denoise_crawler.page import Page

_WITH_SECTION = -1.4  # log odds of a heading that is kept if its section is
_LEAST_PROSE, _MOST_LINKED = 60, 0.3  # characters, the share of them in links
_DOUBTED = -1.8  # log odds that a box at the end of an article must have
_PARAGRAPHS, _LEAST_BOX, _MOST_OF_BOX = 2, 8, 4  # of an article; tokens of prose, blocks
_TABLES = TABLE, DEFINITIONS
_USUAL, _FORM = 0.8, 3  # of the other pages have a text; so many of these between text of a page make it a form


def no_lower_than_page_alone(look: Look, alone: Look, parts: Parts, *, may_be_form: bool) -> Numbers:
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


def contents_no_higher(page: Page, alone: Look, scores: Numbers) -> Numbers:
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


def prose_everywhere(look: Look, parts: Parts) -> list[int]:
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


def last_box(look: Look, scores: Numbers) -> list[int]:
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
