"""Which requests of a page's own scripts and styles are let through while it is rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from denoise_crawler.crawl.private_addresses import is_private, literal_address

if TYPE_CHECKING:
    from playwright.async_api import Frame
    from playwright.async_api import Request as BrowserRequest

# They change neither the text nor, with declared sizes, where it stands.
UNNEEDED_TYPES = frozenset({"image", "media", "font"})


def should_abort(request: BrowserRequest) -> bool:
    """Tell whether ``request`` is to be aborted (the setting PLAYWRIGHT_ABORT_REQUEST).

    Pictures, films and fonts are not fetched. No page reaches this machine or its network, by address or as
    ``localhost``, unless it comes from that very host.
    """
    return request.resource_type in UNNEEDED_TYPES or (_is_inside(request.url) and not _is_own(request))


def _is_inside(url: str) -> bool:
    address = literal_address(urlsplit(url).hostname or "")
    return bool(address) and is_private(address)


def _is_own(request: BrowserRequest) -> bool:
    """Tell whether the request is the page itself, or goes to the host it came from."""
    top: Frame = request.frame
    while top.parent_frame is not None:
        top = top.parent_frame
    if urlsplit(top.url).scheme not in ("http", "https"):
        return request.is_navigation_request() and request.frame is top
    return urlsplit(top.url).netloc == urlsplit(request.url).netloc
