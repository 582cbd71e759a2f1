"""The result for one page: its clean text, its metadata and how it was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from denoise_crawler.output.explanation import BlockVerdict


@dataclass
class CleanPage:
    """The clean text of one page; also the item of our own spiders.

    ``text`` is a string; of the form ``blocks`` (``DENOISE_FORM``) it is a list of dicts, whose ``str`` is JSON.
    ``title``, ``author`` (several parted by "; "), ``date`` of publication (ISO 8601, with a time if there is
    one) and ``language`` are what the page says in its metadata, None (the title: empty) where it says
    nothing. ``fetched_at`` is an ISO 8601 time in UTC, ``method`` the name of the method that judged the page,
    ``warm`` whether the site's knowledge was ready by then, ``noise_ratio`` the share of the page's visible
    characters that was removed (0–1). ``confidence`` is the F1 that the text can be expected to have against what
    a person would keep (0–1), ``page_type`` what the page is: article, forum, product, listing, collection,
    documentation or service; both are None where the method cannot tell. ``explanation`` says of each block why
    it was kept or dropped, None unless it was asked for (``DENOISE_EXPLAIN``). ``low_confidence`` says whether the
    confidence is below what was asked for (``DENOISE_MIN_CONFIDENCE``), None if nothing was.

    ``description``, ``image`` (the lead picture's address), ``canonical_url``, ``site_name``, ``tags`` and
    ``modified`` (ISO 8601) are None unless they were asked for (``DENOISE_MORE_METADATA``) and the page says them.
    ``records`` are the posts of a thread or the items of a list, ``fields`` the values of a product by name,
    ``json_ld`` is the page's JSON-LD. They are None unless they were asked for (``DENOISE_RECORDS``,
    ``DENOISE_FIELDS``, ``DENOISE_JSON_LD``). So are (``DENOISE_CHANGES``) the ``content_hash`` of the text without
    time stamps and counters, ``near_duplicate_of`` (the address of a page of the site that says nearly the same),
    ``soft_404`` (the site's error page) and ``unchanged`` (the page says what it said when it was last seen).

    ``error`` names the exception that we raised on the page, which has no text then; None for all others.
    """

    url: str = ""
    site: str = ""
    title: str = ""
    author: str | None = None
    date: str | None = None
    text: Any = ""
    language: str | None = None
    fetched_at: str | None = None
    method: str | None = None
    warm: bool | None = None
    noise_ratio: float | None = None
    confidence: float | None = None
    page_type: str | None = None
    explanation: list[BlockVerdict] | None = None
    low_confidence: bool | None = None
    description: str | None = None
    image: str | None = None
    canonical_url: str | None = None
    site_name: str | None = None
    tags: list[str] | None = None
    modified: str | None = None
    records: list[dict[str, str]] | None = None
    fields: dict[str, str] | None = None
    json_ld: list[dict[str, Any]] | None = None
    content_hash: str | None = None
    near_duplicate_of: str | None = None
    soft_404: bool | None = None
    unchanged: bool | None = None
    error: str | None = None


# Stored items name their class; this name must not change when the file moves.
CleanPage.__module__ = "denoise_crawler"
