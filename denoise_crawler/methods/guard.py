"""The guard: bounds what is hidden, and replaces a judgement that would leave almost nothing of a page."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING

from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.methods.hidden_text import without_much_hidden
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.methods.base import Judgement
    from denoise_crawler.page import Page

# Tuned on one half of the gold sets, see benchmarks/quality.md.
MIN_KEPT_SHARE = 0.1
MIN_TEXT_CHARACTERS = 200


def apply_guard(page: Page, judgement: Judgement) -> Judgement:
    """Return ``judgement``, or a safer one if it leaves almost nothing of a page with text.

    Text that the page hides goes first, if that was most of it: see :func:`without_much_hidden`.

    Characters count outside links. If ``fusion`` finds at least ``MIN_TEXT_CHARACTERS`` on the page alone and
    ``judgement`` keeps less than ``MIN_KEPT_SHARE`` of them, the judgement of ``fusion`` replaces it. If
    ``fusion`` finds fewer and ``judgement`` keeps no text at all, everything is kept.

    Args:
        page: The page.
        judgement: A method's judgement of it.

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
        _, found = _count_unlinked(page, safer.noise)
        if _is_next_to_nothing(kept, found):
            return _safer(safer, kept, found)
    return _keep_all(judgement) if empty and TEXT in page.nodes.tags else judgement


def leaves_next_to_nothing(page: Page, noise: Sequence[bool], safer: Sequence[bool]) -> bool:
    """Tell whether almost nothing of a page is left beside what a ``safer`` judgement leaves.

    Args:
        page: The page.
        noise: Whether each node is noise.
        safer: The same, by another judgement.

    Example:
        >>> from denoise_crawler import Page
        >>> page = Page.parse("https://a.example/", "<p>A short note.</p>")
        >>> leaves_next_to_nothing(page, [True] * 3, [False] * 3)
        True

    """
    (_, kept), (_, found) = _count_unlinked(page, noise), _count_unlinked(page, safer)
    if _is_next_to_nothing(kept, found):
        return True
    return not kept and not _keeps_text(page, noise) and _keeps_text(page, safer)


def _is_next_to_nothing(kept: int, found: int) -> bool:
    return found >= MIN_TEXT_CHARACTERS and kept < MIN_KEPT_SHARE * found


def _count_unlinked(page: Page, noise: Sequence[bool]) -> tuple[int, int]:
    """Count the characters outside links: all of them, and those that are no noise."""
    if (columns := page.nodes.compiled) is not None:
        _, unlinked, _, unlinked_kept = columns.counts(noise)
        return unlinked, unlinked_kept
    is_unlinked = [link < 0 for link in page.nodes.links]
    is_kept = [unlinked and not gone for unlinked, gone in zip(is_unlinked, noise, strict=True)]
    return sum(compress(page.characters, is_unlinked)), sum(compress(page.characters, is_kept))


def _keeps_text(page: Page, noise: Sequence[bool]) -> bool:
    return any(tag is TEXT and not gone for tag, gone in zip(page.nodes.tags, noise, strict=True))


def _safer(safer: Judgement, kept: int, found: int) -> Judgement:
    because = f"guard, as {kept:,} of {found:,} characters of running text were left: the page alone was judged"

    def reason(index: int) -> str:
        own = safer.reason(index)
        return f"{own} ({because})" if own else because

    return replace(safer, reason=reason, guarded=True)


def _keep_all(judgement: Judgement) -> Judgement:
    kept = [False] * len(judgement.noise)
    return replace(
        judgement,
        noise=kept,
        reason=lambda _: "guard: everything looked like noise, so all was kept",
        guarded=True,
        confidence=None,
    )
