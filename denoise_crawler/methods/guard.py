"""The guard: bounds what is hidden, and replaces a judgement that would leave almost nothing of a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from denoise_crawler import kernel
from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.page import TEXT, Element, Page
from denoise_crawler.page.declarations import MAX_VALUES, declarations_of, declared_texts_of, text_of
from denoise_crawler.page.unseen import PANEL_WORDS, unseen_of

Bits = NDArray[np.bool_]

MIN_WORDS = 100  # of a page that has content of its own where readers see it
_BEGINNING = 48  # letters and digits of a text that may describe hidden text
_LEAST_BEGINNING, _MOST_BEGINNINGS = 16, 50
_LEAST_DECLARED = 0.5  # of the shingles of a hidden part that the page declares
_STREAMED = re.compile(r"S:[0-9a-f]+")  # the identities by which React moves what arrives late
_AROUND, _LONGEST = 2, 200  # elements above a hidden part, letters of their attributes
_REASON = "hidden from readers, and more than what they see"


def without_much_hidden(page: Page, judgement: Judgement) -> Judgement:
    """Return ``judgement`` without the text that ``page`` hides, where that is more than what readers see of it.

    Hidden text stays where the visible content has fewer than ``MIN_WORDS`` words, and where a declared text, a
    description or the title begins as it does: a wall of payments hides whole articles.

    Example:
        >>> from denoise_crawler import Page
        >>> from denoise_crawler.methods.base import Judgement
        >>> page = Page.parse("", "<p>" + "A story. " * 60 + "<div hidden>" + "Cheap pills. " * 500 + "</div>")
        >>> without_much_hidden(page, Judgement([False] * 5, [0.0] * 5)).noise
        [False, False, False, True, True]
    """
    if (unseen := page.once(unseen_of)) is None or not unseen.hidden.any():
        return judgement
    noise, every = judgement.noise, page.characters
    hidden = sum([every[index] for index in unseen.hidden.nonzero()[0].tolist() if not noise[index]])
    if hidden < MIN_WORDS or 2 * hidden <= page.nodes.counts(noise)[2] or _is_paid_for(page):
        return judgement
    gone, kept, characters = _unexplained(page, unseen.hidden), ~np.array(noise, bool), np.array(every)
    if characters[kept & gone].sum() <= characters[kept & ~gone].sum():
        return judgement
    if not _has_content(page, kept & ~gone, gone):
        return judgement

    def reason(index: int) -> str:
        return _REASON if gone[index] else judgement.reason(index)

    return replace(judgement, noise=(~kept | gone).tolist(), reason=reason)


def _has_content(page: Page, shown: Bits, gone: Bits) -> bool:
    """Return True if a page has content besides what is to go: ``shown``, or what ``fusion`` would show."""
    if _words(page, np.flatnonzero(shown).tolist()) >= MIN_WORDS:
        return True
    shown = ~np.array(Fusion().judge(page).noise, bool) & ~gone
    return _words(page, np.flatnonzero(shown).tolist()) >= MIN_WORDS


def _words(page: Page, nodes: Iterable[int]) -> int:
    return len(_hashes(page.nodes.texts[index] for index in nodes))


def _is_paid_for(page: Page) -> bool:
    """Return True if a page declares that some of it is for those who pay."""
    items = page.once(declarations_of).items
    parts = (part for item in items for part in (item, *_listed(item.get("hasPart"))) if isinstance(part, dict))
    return any(str(part.get("isAccessibleForFree", "")).lower() == "false" for part in parts)


def _listed(value: Any) -> list[Any]:
    return value[:MAX_VALUES] if isinstance(value, list) else [value]


def _unexplained(page: Page, hidden: Bits) -> Bits:
    """Return which nodes are hidden in much text for no reason that is known.

    Reasons are that the page describes or declares the text, that a script moves it to its place, or that it
    opens.
    """
    gone, nodes = np.zeros(len(hidden), bool), page.nodes
    declared = _shingles(text.text for text in page.once(declared_texts_of))
    shown = _bare(nodes.texts[index] for index in np.flatnonzero(~hidden).tolist())
    beginnings = [each for each in islice(_beginnings(page), _MOST_BEGINNINGS) if each not in shown]
    sizes = Counter[int]()
    parts = [(part, nodes.parents[part.start]) for part in _parts(page, hidden)]
    for part, parent in parts:
        sizes[parent] += _words(page, part)
    for part, parent in parts:
        if sizes[parent] >= MIN_WORDS and not _opens(nodes.elements[part.start]):
            texts = nodes.texts[part.start : part.stop]
            text, shingles = _bare(texts), _shingles(texts)
            described = any(beginning in text for beginning in beginnings)
            mostly_declared = len(shingles) > 0 and np.isin(shingles, declared).mean() > _LEAST_DECLARED
            gone[part.start : part.stop] = not described and not mostly_declared
    return gone


def _shingles(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return a hash for each run of three words in ``texts``."""
    words = _hashes(texts)
    shingles: NDArray[np.uint64] = 31 * (31 * words[:-2] + words[1:-1]) + words[2:]
    return shingles


def _hashes(texts: Iterable[str]) -> NDArray[np.uint64]:
    hashes: NDArray[np.uint64] = kernel.active.word_hashes(list(texts))[0]
    return hashes


def _opens(element: Element) -> bool:
    """Return True if a script moves an element to its place, or what is said of it and around it names a panel."""
    if _STREAMED.fullmatch(element.get("id", "")):
        return True
    around = (element, *islice(element.iterancestors(), _AROUND))
    return any(PANEL_WORDS.search(str(value)[:_LONGEST]) for near in around for value in near.attrib.values())


def _beginnings(page: Page) -> Iterator[str]:
    """Yield the beginnings of the texts that describe the page's content, without spaces and marks."""
    described = page.self_description
    texts = [text.text for text in page.once(declared_texts_of)]
    texts += [meta.content for meta in described.metas if "og:description" in (meta.property, meta.name)]
    texts += map(text_of, described.headings)
    for text in texts:
        if len(beginning := _bare([text[: 2 * _BEGINNING]])[:_BEGINNING]) >= _LEAST_BEGINNING:
            yield beginning


def _parts(page: Page, hidden: Bits) -> Iterator[range]:
    """Yield the nodes of each part that is hidden as a whole."""
    index, marked = 0, np.flatnonzero(hidden)
    for start in marked.tolist():
        if start >= index and page.nodes.tag_of(start) is not TEXT:
            index = page.nodes.end_of(start)
            yield range(start, index)


def _bare(texts: Iterable[str]) -> str:
    return "".join(filter(str.isalnum, "".join(texts))).lower()


# Tuned on one half of the gold sets, see benchmarks/quality.md.
MIN_KEPT_SHARE = 0.1
MIN_TEXT_CHARACTERS = 200


def apply_guard(page: Page, judgement: Judgement) -> Judgement:
    """Return ``judgement``, or a safer one if it leaves almost nothing of a page with text.

    Text that the page hides goes first, if that was most of it: see :func:`without_much_hidden`.
    Characters count outside links. If ``fusion`` finds at least ``MIN_TEXT_CHARACTERS`` on the page alone and
    ``judgement`` keeps less than ``MIN_KEPT_SHARE`` of them, the judgement of ``fusion`` replaces it. If
    ``fusion`` finds fewer and ``judgement`` keeps no text at all, everything is kept.

    Example:
        >>> from denoise_crawler import Page
        >>> from denoise_crawler.methods.base import Judgement
        >>> page = Page.parse("https://a.example/", "<p>A short note.</p>")
        >>> apply_guard(page, Judgement([True] * 3, [0.0] * 3)).noise
        [False, False, False]
    """
    judgement = without_much_hidden(page, judgement)
    all_text, kept = _count_unlinked(page, judgement.noise)
    empty = not kept and not _keeps_text(page, judgement.noise)
    # no judgement keeps more than there is, so most pages need no second one
    if not empty and (all_text < MIN_TEXT_CHARACTERS or kept >= MIN_KEPT_SHARE * all_text):
        return judgement
    if all_text >= MIN_TEXT_CHARACTERS:
        safer = without_much_hidden(page, Fusion().judge(page))
        _, kept_by_safer = _count_unlinked(page, safer.noise)
        if _is_next_to_nothing(kept, kept_by_safer):
            left = f"{kept:,} of {kept_by_safer:,} characters of running text were left"
            return safer.because(f"guard, as {left}: the page alone was judged", guarded=True)
    return _keep_all(judgement) if empty and TEXT in page.nodes.tags else judgement


def leaves_next_to_nothing(page: Page, noise: Sequence[bool], safer: Sequence[bool]) -> bool:
    """Return True if ``noise`` leaves almost nothing of a page beside what a ``safer`` judgement leaves.

    Example:
        >>> from denoise_crawler import Page
        >>> page = Page.parse("https://a.example/", "<p>A short note.</p>")
        >>> leaves_next_to_nothing(page, [True] * 3, [False] * 3)
        True
    """
    (_, kept), (_, kept_by_safer) = _count_unlinked(page, noise), _count_unlinked(page, safer)
    if _is_next_to_nothing(kept, kept_by_safer):
        return True
    return not kept and not _keeps_text(page, noise) and _keeps_text(page, safer)


def _is_next_to_nothing(kept: int, kept_by_safer: int) -> bool:
    return kept_by_safer >= MIN_TEXT_CHARACTERS and kept < MIN_KEPT_SHARE * kept_by_safer


def _count_unlinked(page: Page, noise: Sequence[bool]) -> tuple[int, int]:
    """Count the characters outside links: all of them, and those that are no noise."""
    _, unlinked, _, unlinked_kept = page.nodes.counts(noise)
    return unlinked, unlinked_kept


def _keeps_text(page: Page, noise: Sequence[bool]) -> bool:
    return any(tag is TEXT and not gone for tag, gone in zip(page.nodes.tags, noise, strict=True))


def _keep_all(judgement: Judgement) -> Judgement:
    kept, because = [False] * len(judgement.noise), "guard: everything looked like noise, so all was kept"
    return replace(judgement, noise=kept, reason=lambda _: because, guarded=True, confidence=None)
