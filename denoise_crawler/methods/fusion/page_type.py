"""What a page looks like as a whole, as numbers: they tell an article from a forum thread, a shop or a list."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import exp, log1p
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import KINDS, PAGE_TYPE
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.declared import linked_data_of
from denoise_crawler.methods.fusion.features import Look
from denoise_crawler.methods.fusion.markup_words import address_and_declared_words_of, parts_of_address
from denoise_crawler.methods.fusion.record_blocks import are_entries
from denoise_crawler.methods.fusion.trees import BoostedTrees, Tree
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Blocks

_COUNTED_TAGS = (
    "form", "input", "table", "pre", "code", "img", "h1", "h2", "h3", "li", "article", "section", "time",
)  # fmt: skip
_CURRENCIES = "$€£¥"
_DECLARED = {
    "article": ("article", "newsarticle", "blogposting", "reportagenewsarticle", "report"),
    "product": ("product", "productgroup", "offer", "aggregateoffer", "individualproduct"),
    "forum": ("discussionforumposting", "qapage", "question", "comment"),
    "list": ("itemlist", "collectionpage", "searchresultspage", "blog", "offercatalog"),
    "documentation": ("techarticle", "apireference", "howto", "softwaresourcecode"),
    "service": ("service", "localbusiness", "professionalservice", "faqpage", "aboutpage", "contactpage"),
}
_OPEN_GRAPH = "article", "product", "website"
_TRAITS = (
    *(f"declares {kind}" for kind in _DECLARED),
    *(f"og {name}" for name in _OPEN_GRAPH),
    *("address steps", "address last length", "address last hyphens", "address digits", "address query"),
    "address ends with slash",
    *(f"elements {tag}" for tag in _COUNTED_TAGS),
    *("prices", "questions", "mentions"),
    *("thread likeness", "thread posts", "thread users"),
)


# the features from which the type of a page is predicted
PAGE_TYPE_NAMES = (*(f"words of {kind}" for kind in KINDS), *_TRAITS, *PAGE_TYPE)


def traits_of(page: Page) -> tuple[float, ...]:
    """Return what ``page`` declares of itself, its address, which elements and which signs it has."""
    texts = page.once(blocks_of).texts
    return (*_declared(page), *_address(page.url), *_tags(page), *_signs(texts), *_thread(page))


def page_type_row(traits: Sequence[float], look: Look) -> NDArray[np.float32]:
    """Return the features from which the type of a page is predicted: its ``traits``, and those of its text."""
    of_text = kernel.active.page_type_row(look.blocks, look.scores)
    return np.concatenate((look.kinds, traits, of_text), dtype=np.float32, casting="same_kind")


def _declared(page: Page) -> list[float]:
    """Return by type whether linked data declare it, then whether ``og:type`` does."""
    words = page.once(address_and_declared_words_of)
    types = {name.lower() for name in page.once(linked_data_of).types}
    declared = [float(not types.isdisjoint(names)) for names in _DECLARED.values()]
    return declared + [float(f"og:type={name}" in words) for name in _OPEN_GRAPH]


def _address(url: str) -> tuple[float, ...]:
    parts = parts_of_address(url)
    path = parts.path[:1_000]
    steps = [step for step in path.split("/") if step]
    last = steps[-1] if steps else ""
    digits = sum(map(str.isdigit, path))
    hyphens = last.count("-") + last.count("_")
    return len(steps), len(last), hyphens, digits, bool(parts.query), parts.path.endswith("/")


def _tags(page: Page) -> list[float]:
    counted = page.nodes.count_tags()
    return [log1p(counted.get(tag, 0)) for tag in _COUNTED_TAGS]


def _signs(texts: list[str]) -> tuple[float, ...]:
    """Return how many signs of currencies, question marks and at signs there are, as logarithms."""
    whole = "\n".join(texts)
    return log1p(sum(map(whole.count, _CURRENCIES))), log1p(whole.count("?")), log1p(whole.count("@"))


_LONGEST_DATE = 60  # characters
_NO_THREAD = 0.0, 0.0, 0.0


def _thread(page: Page) -> tuple[float, ...]:
    """Return how much the page looks like a thread, how many posts it has, and the share of them with a user.

    Most pages have no text between dates at one place, and are not searched for posts.
    """
    if not _may_be_thread(page.once(blocks_of)):
        return _NO_THREAD
    from denoise_crawler.records.posts import users_of  # few pages are threads
    from denoise_crawler.records.thread import thread_of

    thread = page.once(thread_of)
    if not (count := len(thread.bodies)):
        return _NO_THREAD
    users = sum(user >= 0 for user in page.once(users_of))
    return thread.likeness, log1p(count), users / count


def _may_be_thread(blocks: Blocks) -> bool:
    """Return True if much of the page's text stands behind dates at one place."""
    from denoise_crawler.records.thread import find_date

    for place in kernel.active.lines_around_text(blocks):
        dates = [find_date(blocks.texts[block][:_LONGEST_DATE]) for block in place]
        if len(dates) - dates.count(None) > 1:
            return True
    return False


_LIKE, _WITH_USER = 0.35, 0.75  # likeness and share of posts with a user, from which a page can be a thread …
_IN_POSTS, _LIKELY = 0.8, 0.5  # … if so much of its expected content is in them, and so much of them is content


def is_thread(page: Page, look: Look) -> bool:
    """Return True if posts, most with their users, hold nearly all that is content of a page, whatever its design.

    Readers' comments on an article look like posts, but are no content, and stand behind some. Nor are the entries
    of a blog posts.
    """
    likeness, _, users = page.once(traits_of)[-3:]
    if likeness < _LIKE or users < _WITH_USER:
        return False
    from denoise_crawler.records.thread import thread_of

    spaces, tokens, posts = page.once(thread_of).spaces, look.blocks.tokens, np.zeros(len(look.blocks), bool)
    posts[slice(*np.searchsorted(look.blocks.starts, (spaces[0].start, spaces[-1].stop)))] = True
    expected = tokens / (1.0 + np.exp(-look.scores))
    content = expected[posts].sum()
    if content < max(_IN_POSTS * expected.sum(), _LIKELY * tokens[posts].sum()):
        return False
    return not are_entries(page, look.blocks, posts, len(spaces))


# On articles the set of blocks with the best expected F1 reaches too far, on lists and manuals not far enough.
# Tuned on the tuning halves of all sets, by folds.
CUT_SHIFTS = dict.fromkeys(KINDS, 0.0) | {
    "article": -0.2,
    "forum": 0.6,
    "listing": 2.0,
    "collection": 1.8,
    "documentation": 0.8,
    "service": 0.6,
}
_SHIFTS = [CUT_SHIFTS[kind] for kind in KINDS]
_MOST_SCORE = 8.0
_PRODUCT, _LEAST_PRODUCT = KINDS.index("product"), 0.3  # chance from which values of a product are looked for


class PageTypeTrees:
    """Trees that score each of ``KINDS`` for a page: tree i is one of kind ``i % len(KINDS)``."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        by_kind = (trees[number :: len(KINDS)] for number in range(len(KINDS)))
        self._trees = BoostedTrees([*chain(*by_kind)])

    def scores(self, traits: Sequence[float], look: Look) -> list[float]:
        """Return the score of each kind, their mean 0, by what the page says of itself and the trees of blocks."""
        row = page_type_row(traits, look).reshape(-1, 1)
        scores = self._trees.in_kernel.scores(row, len(KINDS)).tolist()
        mean = sum(scores) / len(KINDS)
        return [min(max(score - mean, -_MOST_SCORE), _MOST_SCORE) for score in scores]


class PageType(NamedTuple):
    """What a page is, what is added to its log odds before the cut, whether it may be of a product."""

    name: str | None = None
    shift: float = 0.0
    may_be_product: bool = False


def page_type_of(scores: Sequence[float], *, has_fields: bool) -> PageType:
    """Return the likeliest of ``KINDS``, and the mean shift of all, each as likely as it is.

    Args:
        scores: What the page itself says.
        has_fields: Whether the page is a filled-in form with a price near its title, as the site shows it.
    """
    if has_fields:
        return PageType("product", CUT_SHIFTS["product"], may_be_product=True)
    most = max(scores)
    odds = [exp(score - most) for score in scores]
    name, may_be_product = KINDS[scores.index(most)], odds[_PRODUCT] >= _LEAST_PRODUCT * sum(odds)
    shift = sum(map(mul, odds, _SHIFTS)) / sum(odds)
    return PageType(name, shift, may_be_product or name == "product")
