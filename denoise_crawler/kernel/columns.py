"""What ``judge`` and ``reference`` share: the columns of a page and of its site, the names of features, constants.

A feature is one name in ``PAGE``, ``SITE`` or ``SCORES`` and what fills its row in both. Trainer and judge read
the names from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]
    Counts: TypeAlias = NDArray[np.int32]
    Hashes: TypeAlias = NDArray[np.uint32]
    Flags: TypeAlias = NDArray[np.bool_]
    Table: TypeAlias = NDArray[np.float32]


# --- the columns of a page

TAGS = ("", "p", "h1", "h2", "h3", "li", "td", "div", "body", "br", "pre", "section", "dd", "blockquote")
TAG_CODES = {tag: code for code, tag in enumerate(TAGS)} | {
    "h4": 4, "h5": 4, "h6": 4, "th": 6, "dt": 12, "article": 11, "main": 11, "code": 10, "figcaption": 13,
}  # fmt: skip
P, H1, H3, LI, TD, DD = (TAGS.index(tag) for tag in ("p", "h1", "h3", "li", "td", "dd"))


@dataclass(slots=True, eq=False)
class Elements:
    """The block-level elements of a page in document order; element 0 is the body.

    ``first`` and ``last`` bound the blocks below each (``range(first, last)``), ``places`` are the bits of
    ``PLACES`` it stands in, ``tags`` codes of ``TAG_CODES``, ``paths`` a hash of the labels from the body down to
    it. ``names`` are the distinct classes and ids, numbers in them alike, the first empty; ``named`` numbers them
    by element.
    """

    nodes: Indices
    parents: Indices
    first: Indices
    last: Indices
    places: Indices
    tags: Indices
    names: list[str]
    named: Indices
    paths: Hashes
    depths: Indices

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(eq=False)
class Blocks:
    """The blocks of a page in document order: a block is the text of one line, as ``clean_text`` parts lines.

    The text nodes of block i are those from ``starts[i]`` up to ``ends[i]``; they stand in the block-level element
    ``elements[i]``. ``characters`` and ``linked`` (those inside links) leave white space out; ``tokens`` counts
    words, in Chinese and Japanese characters. ``texts`` are normalised; ``text_hashes``, ``masked_hashes`` (every
    number alike) and ``link_hashes`` (of the first link, 0 without one) are what the site knows them by, as are
    ``styles`` (what a block looks like) and ``shapes`` (what its text has in common with its like on other pages).
    """

    texts: list[str]
    starts: Indices
    ends: Indices
    elements: Indices
    characters: Numbers
    linked: Numbers
    tokens: Numbers
    commas: Numbers
    closed: Numbers
    text_hashes: Hashes
    masked_hashes: Hashes
    link_hashes: Hashes
    styles: Hashes
    shapes: Hashes
    around: Elements

    def __len__(self) -> int:
        return len(self.texts)


class Headline(NamedTuple):
    """By block how much it resembles the page's title, whether it is an ``h1``, and which block is the title.

    ``best`` is -1 where no block resembles it. ``main`` is the first ``h1``, else the same.
    """

    overlap: Numbers
    first_heading: Numbers
    best: int
    main: int

    @property
    def sure(self) -> int:
        """The block that is the title beyond doubt: an ``h1`` in the title's words; -1 if there is none."""
        best = self.best
        return best if best >= 0 and self.first_heading[best] and self.overlap[best] >= SURE_TITLE else -1


SURE_TITLE = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What belongs together on a page.

    ``units`` are rows of kind (a number of ``UNITS``), first block and that behind the last; ``lists``, which the
    block before introduces, of first and last; ``headings`` of these and the end of the section. The chances of
    the blocks ``silent`` say nothing: they are the signs of a formula.
    """

    units: Indices
    lists: Indices
    headings: Indices
    silent: Indices


UNITS = TABLE, CODE, FORMULA, FIGURE, DEFINITIONS = (
    "table", "code block", "formula", "figure", "definition list",
)  # fmt: skip


class Choice(NamedTuple):
    """What became of the blocks of a page, step by step.

    ``own`` is how likely each block is content, ``chances`` the same with its unit. ``likely`` are the blocks
    whose text promises the best F1, ``best`` those to take of the units, ``once`` without what stands there twice,
    ``taken`` with headings as their sections. ``bar`` is the lowest chance that was likely, ``expected`` the F1 to
    be expected.
    """

    own: Numbers
    chances: Numbers
    likely: Flags
    best: Flags
    once: Flags
    taken: Flags
    bar: float
    expected: float


# --- the columns of a site


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """One page by columns, as its site keeps it: in 32 bits, for there are many.

    Its paths that have text on or below them, parents first: ``paths`` (hashes), ``parents`` (indices, -1 for
    the body), ``elements`` (how many elements have that path). Its blocks: ``homes`` (indices of paths),
    ``texts`` (hashes), ``characters``, ``linked``, ``shapes`` (hashes, 0 where that of the text is the same).
    ``masked`` and ``links`` are the distinct hashes, ascending.
    So are its ``styles``; ``style_tokens`` are the tokens in each, ``style_scores`` the sum over them of what the
    look at the page alone gave, in hundredths.
    """

    key: int
    paths: Hashes
    parents: Counts
    elements: Counts
    homes: Counts
    texts: Hashes
    characters: Counts
    linked: Counts
    shapes: Hashes
    masked: Hashes
    links: Hashes
    styles: Hashes
    style_tokens: Counts
    style_scores: Counts


@dataclass(slots=True, eq=False)
class SiteStats:
    """What ``pages`` other pages of the site say of one page.

    By block, the number of those pages that have its ``texts``, its text with every number alike (``masked``), and
    the link it begins with (``links``); the tokens on those pages that are in its style, and the mean score of
    these without its site (``style_tokens``, ``style_scores``).

    By block, what they have at its place, which is the path of its element: ``shapes`` is the number of pages that
    have a text of its shape there. Of all shapes there, each counted by the pages that have it, ``shapes_held`` is
    the sum, ``shapes_repeated`` that of those on ``OFTEN`` pages and more, and ``sameness`` what is missing of
    their entropy to that of as many different ones, from 0 to 1 (node importance in Yi, Liu and Li 2003).

    By block-level element, what stands on its path, summed over those pages: ``path_pages`` that have it,
    ``path_elements``, ``path_characters``, ``path_linked`` and ``path_repeated`` (characters of texts that come
    back).
    """

    pages: int
    texts: Numbers
    masked: Numbers
    links: Numbers
    style_tokens: Numbers
    style_scores: Numbers
    shapes: Numbers
    shapes_held: Numbers
    shapes_repeated: Numbers
    sameness: Numbers
    path_pages: Numbers
    path_elements: Numbers
    path_characters: Numbers
    path_linked: Numbers
    path_repeated: Numbers


KINDS = ("article", "forum", "product", "listing", "collection", "documentation", "service")
HUNDREDTHS = 100.0
OFTEN = 3  # pages that have the same at one place
REPEATED_SHARE, REPEATED_PAGES = 0.2, 2  # of the pages that have a text that comes back
PARAGRAPH = 80.0  # characters outside links
MOST_COPIES = 0.25  # of the pages: what more of them have is no article

# --- the names of features

# What a block can stand in, one bit each.
PLACES = (
    "article", "main", "header", "footer", "nav", "aside", "form", "table", "list", "figure", "quote",
    "hidden", "comment", "body_role", "chrome_role", "itemprop",
)  # fmt: skip
UNSAID = -1.0  # of what is not known
LEVELS = 3  # elements above a block that are looked at
OF_ABOVE = ("characters", "link share", "share of text", "mean block", "names")
OF_SITE = ("presence", "elements", "length", "link share", "repeated")
# of a block, the page around it and the elements above it
PAGE = (
    *("characters", "link share", "commas", "closed", "tag", "depth", "of longest"),
    *("page characters", "page blocks", "page link share", "page unlinked", "longest"),
    *("place", "place by characters"),
    *(f"above {level} {name}" for level in range(LEVELS) for name in OF_ABOVE),
    *("names sum", "names most", "names least", "names nearest"),
    *("blocks to title", "characters to title"),
    *("times on page", "blocks on path", "share of text on path", "mean text on path"),
)
# of a block by its texts and words; what the page declares follows, as ``declared`` names it
SAID = "title overlap", "first heading", "begins description", "unit"
SITE = (
    *("site pages", "site text", "site text pages", "site masked text pages", "site masked text", "site link"),
    *(f"site above 0 {name}" for name in OF_SITE),
    *("place shape pages", "place shape", "place repeated", "place sameness"),
)
# what a second look sees: the scores of the first
NEIGHBOURS = (1, 2, 3, 4)
WINDOWS = (3, 8, 20)
SCORE_LEVELS = 4
SCORES = (
    "score",
    *(f"score {distance:+}" for near in NEIGHBOURS for distance in (-near, near)),
    *(f"{side} {width} likely" for width in WINDOWS for side in ("before", "after")),
    *(f"above {level} {name}" for level in range(SCORE_LEVELS) for name in ("likely", "tokens")),
    *("same path likely", "same path blocks"),
    *("score rank", "page likely tokens", "page likely share", "likely so far", "highest score"),
)
PAGE_TYPE = (
    *("blocks", "characters", "link share"),
    *("paragraphs", "share in paragraphs", "longest", "commas in paragraphs"),
    *("content tokens", "content share", "content blocks", "content link share"),
    *(f"list {place} {name}" for place in (1, 2) for name in ("size", "share", "mean", "link share", "content")),
)

# --- what both must do alike

# short lines on one path, between which text stands as posts do between their dates: characters, the least share
# of the page's text outside links, the most paths, the most lines of each
LONGEST_LINE, LEAST_BETWEEN, MOST_PATHS, MOST_LINES = 80.0, 0.4, 50, 12

SPREAD = 0x9E3779B97F4A7C15  # 2**64 by the golden ratio: multiplied with it, the upper bits differ
COMMAS, SENTENCE_ENDS = ",，、。", '.!?。！？…:：;；"”»'  # the commas of all scripts; what a sentence may end with
LONGEST_MASKED = 200  # characters of a text whose numbers are masked
STYLE_LENGTHS, STYLE_LINKED = (15, 40, 120), 0.9  # what parts short blocks from longer ones, links from others
LEAST_LABEL, LONGEST_LABEL, LEAST_HEADING = 3, 80, 10  # characters
TITLE_CHARACTERS, LEAST_TITLE, BEGINNING = 300, 0.3, 24
MAX_LEAVES = 32
SCALE = float(1 << 32)  # entropies are added up as whole numbers, so that no sum depends on the order of pages

# The log odds of a unit of data: what its own blocks say, what those around it say, and what is so of its kind.
# Cells and lines of code are short, and short blocks say little: data in the middle of content is content.
# Logistic regression over the tables of half of the sites of all gold sets, see docs/how-it-decides.md; gold texts
# that leave all code out, and those that write formulas in another way, say nothing of the other kinds.
OF_OWN, OF_BEFORE, OF_AFTER = 0.55, 0.43, 0.25
OF_TABLES, OF_OTHERS = -0.33, 0.5
AROUND, MOST_UNIT_TOKENS = 3, 30.0  # blocks on either side; tokens that one of them counts
SUREST = 0.995
# What is said of a block by its style, at most; tokens.
STYLE_SHARE, STYLE_PRIOR = 0.4, 30.0
TITLE_CHANCE = 0.9
LEAST_REPEATED = 40.0  # characters of what is not taken twice
# A heading with a lower chance ("Related", "Comments") is not kept with what follows it; one with a higher chance
# does not go with it. Of those between, half and fewer stand in gold texts, see docs/how-it-decides.md.
LEAST_HEADING_CHANCE, SURE_HEADING_CHANCE = 0.12, 0.73

# --- the clean text: what a node is, some of these added up

TEXT_NODE, BLOCK, CELL, ROW, LIST = 1, 2, 4, 8, 16
ITEM, PREFORMATTED, BREAK, PICTURE, SUPERSCRIPT = 32, 64, 128, 256, 512
NODE_KINDS = {
    "#text": TEXT_NODE,
    "tr": BLOCK | ROW,
    "li": BLOCK | ITEM,
    "pre": BLOCK | PREFORMATTED,
    "img": PICTURE,
    "sup": SUPERSCRIPT,
    **dict.fromkeys(("td", "th"), BLOCK | CELL),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), BLOCK | LIST),
    **dict.fromkeys(("br", "div"), BLOCK | BREAK),
}
BULLET = "- "
MOST_INDENTS = 8
MOST_OF_A_SIGN = 5  # characters
HIDES, SHOWS = 1, 2  # what a rule of a style sheet may do
