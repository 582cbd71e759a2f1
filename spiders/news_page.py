"""A news article with what its publisher says about it."""

from __future__ import annotations

from dataclasses import dataclass, field

from denoise_crawler.output.clean_page import CleanPage


@dataclass
class NewsPage(CleanPage):
    """The clean text of one article.

    Attributes:
        source: Where the text came from: ``detail`` (MSN's JSON interface) or ``html`` (the page itself).
        provider: The name of the publisher; detail mode only.
        authors: The authors; detail mode only.
        published: An ISO 8601 time as the publisher wrote it; detail mode only.
    """

    source: str = ""
    provider: str | None = None
    authors: list[str] = field(default_factory=list)
    published: str | None = None
