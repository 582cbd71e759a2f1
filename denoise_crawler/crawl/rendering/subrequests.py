"""Which requests of a page's scripts and styles are allowed while it is rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from denoise_crawler.crawl.private_addresses import is_private, literal_address

if TYPE_CHECKING:
    from playwright.async_api import Frame
    from playwright.async_api import Request as BrowserRequest

# These change neither the text nor, if their sizes are declared, its position.
UNNEEDED_TYPES = frozenset({"image", "media", "font"})


def should_abort(request: BrowserRequest) -> bool:
    """Tell whether to abort a request of a page (the setting PLAYWRIGHT_ABORT_REQUEST).

    Images, media and fonts are not fetched. No page may reach this machine or its network, by IP address or as
    ``localhost``, unless it comes from that very host.

    Args:
        request: The request that the browser is about to send.

    Returns:
        True if it must not be sent.
    """
    return request.resource_type in UNNEEDED_TYPES or (_is_private_url(request.url) and not _is_own_host(request))


def _is_private_url(url: str) -> bool:
    address = literal_address(urlsplit(url).hostname or "")
    return bool(address) and is_private(address)


def _is_own_host(request: BrowserRequest) -> bool:
    """Tell whether the request is for the page itself, or goes to the host the page came from."""
    top: Frame = request.frame
    while top.parent_frame is not None:
        top = top.parent_frame
    if urlsplit(top.url).scheme not in ("http", "https"):
        return request.is_navigation_request() and request.frame is top
    return urlsplit(top.url).netloc == urlsplit(request.url).netloc
