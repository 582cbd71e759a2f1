"""What comes out: one page's clean text and how it was found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class CleanPage:
    """The clean text of one page, and the item of our own spiders.

    ``language`` is the one the page declares, ``fetched_at`` an ISO 8601 time in UTC, ``method`` the name of
    the method that judged the page, ``warm`` whether the site's knowledge was ready by then, ``noise_ratio``
    the share of the page's visible characters that was removed (0–1).
    """

    url: str = ""
    site: str = ""
    title: str = ""
    text: str = ""
    language: str | None = None
    fetched_at: str | None = None
    method: str | None = None
    warm: bool | None = None
    noise_ratio: float | None = None
