"""What comes out: one page's clean text and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from denoise_crawler.output.explanation import BlockVerdict


@dataclass
class CleanPage:
    """The clean text of one page, and the item of our own spiders.

    ``title``, ``author`` (several parted by "; "), ``date`` of publication (ISO 8601, with a time if there is
    one) and ``language`` are what the page says in its metadata, None (the title: empty) where it says
    nothing. ``fetched_at`` is an ISO 8601 time in UTC, ``method`` the name of the method that judged the page,
    ``warm`` whether the site's knowledge was ready by then, ``noise_ratio`` the share of the page's visible
    characters that was removed (0–1). ``confidence`` is the F1 that the text can be expected to have against what
    a person would keep (0–1), None where the method cannot tell. ``explanation`` says of each block why it was
    kept or dropped, None unless it was asked for (``DENOISE_EXPLAIN``).
    """

    url: str = ""
    site: str = ""
    title: str = ""
    author: str | None = None
    date: str | None = None
    text: str = ""
    language: str | None = None
    fetched_at: str | None = None
    method: str | None = None
    warm: bool | None = None
    noise_ratio: float | None = None
    confidence: float | None = None
    explanation: list[BlockVerdict] | None = None


# Items that wait in a store name their class: by the name that users import, wherever its file stands.
CleanPage.__module__ = "denoise_crawler"
