"""The guard: no single rule may destroy a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.page import Page

# Chosen on the tuning half of the gold sets, see docs/explain.md.
LEAST_KEPT = 0.1
COHERENT = 200


def guarded(page: Page, judgement: Judgement) -> Judgement:
    """Return ``judgement``, or a safer one if it leaves next to nothing of a page that has a text.

    It does if it keeps less than a tenth (``LEAST_KEPT``) of the running text, in characters outside links, that
    ``fusion`` finds by the page alone, and that is at least ``COHERENT`` characters: then this is the verdict. If
    that finds no such text, and nothing at all was kept, everything is.
    """
    all_text, kept = _unlinked(page, judgement.noise)
    empty = not kept and not _keeps_text(page, judgement.noise)
    # no verdict keeps more than there is, so most pages need no second one
    if not empty and (all_text < COHERENT or kept >= LEAST_KEPT * all_text):
        return judgement
    if all_text >= COHERENT:
        safer = Fusion().judge(page)
        _, found = _unlinked(page, safer.noise)
        if found >= COHERENT and kept < LEAST_KEPT * found:
            return _instead(safer, kept, found)
    return _everything(judgement) if empty and TEXT in page.nodes.tags else judgement


def _unlinked(page: Page, noise: Sequence[bool]) -> tuple[int, int]:
    """Return the characters of text outside links: all, and those that are no noise."""
    everything = kept = 0
    for characters, link, gone in zip(page.characters, page.nodes.links, noise, strict=True):
        if characters and link < 0:
            everything += characters
            if not gone:
                kept += characters
    return everything, kept


def _keeps_text(page: Page, noise: Sequence[bool]) -> bool:
    return any(tag is TEXT and not gone for tag, gone in zip(page.nodes.tags, noise, strict=True))


def _instead(safer: Judgement, kept: int, found: int) -> Judgement:
    because = f"guard, as {kept:,} of {found:,} characters of running text were left: the page alone was judged"

    def reason(index: int) -> str:
        own = safer.reason(index)
        return f"{own} ({because})" if own else because

    return Judgement(safer.noise, safer.scores, reason, guarded=True)


def _everything(judgement: Judgement) -> Judgement:
    kept = [False] * len(judgement.noise)
    return Judgement(
        kept, judgement.scores, lambda _: "guard: everything looked like noise, so all was kept", True
    )
