"""What differs between the supported versions of Scrapy: 2.15 and newer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scrapy

from denoise_crawler.errors import OldScrapyError

if TYPE_CHECKING:
    from scrapy import Spider

# The first version with the signal robots_parsed and with a downloader whose slots we can make.
POLITE_SINCE = (2, 18)


def require_scrapy(part: str, least: tuple[int, int] = POLITE_SINCE) -> None:
    """Check that this version of Scrapy is new enough.

    Args:
        part: What needs it, for the message.
        least: The first version that will do.

    Raises:
        OldScrapyError: Scrapy is older.
    """
    if scrapy.version_info[:2] < least:
        version = ".".join(map(str, least))
        raise OldScrapyError(
            f"{part} needs Scrapy {version} or newer, and this is {scrapy.__version__}: "
            f"pip install 'scrapy>={version}', or crawl without {part}"
        )


def ignores_start_requests(spider: type[Spider]) -> bool:
    """Tell whether ``spider`` starts by ``start_requests`` and this Scrapy (2.16 or newer) never calls that."""
    if hasattr(scrapy.Spider, "start_requests"):
        return False
    starts = (vars(kind).keys() & {"start", "start_requests"} for kind in spider.__mro__)
    return next(filter(None, starts), None) == {"start_requests"}
