"""Pages as a browser shows them, by scrapy-playwright: text, geometry and visibility.

The add-on is ``ADDONS = {…, "denoise_crawler.contrib.rendering.Rendering": 320}``.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from denoise_crawler.crawl.middleware import SCRIPT_PAGES_ORDER, ScriptPagesMiddleware
from denoise_crawler.crawl.scrapy_internals import require_scrapy
from denoise_crawler.crawl.settings import abort_on_setup_error
from denoise_crawler.errors import SettingError
from denoise_crawler.page.site import is_private, literal_address

if TYPE_CHECKING:
    from playwright.async_api import Frame
    from playwright.async_api import Request as BrowserRequest
    from typing_extensions import Self

# A response reaches it after decompression, redirects and retries.
MIDDLEWARE_ORDER = 540
_HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Rendering:
    """Renders pages that need it (DENOISE_RENDER) in a browser, by scrapy-playwright.

    The browser is that of PLAYWRIGHT_LAUNCH_OPTIONS, else the Chromium of the system, else that of playwright.
    Settings of scrapy-playwright that the project makes win.
    """

    def __init__(self, crawler: Crawler) -> None:
        with abort_on_setup_error(crawler):
            require_scrapy("denoise_crawler.contrib.rendering")
            if find_spec("scrapy_playwright") is None:
                raise SettingError(
                    "ADDONS names denoise_crawler.contrib.rendering.Rendering, which needs scrapy-playwright: "
                    "pip install 'denoise-crawler[playwright]'"
                )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the add-on. Without scrapy-playwright, or on an older Scrapy, no crawl begins."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components."""
        from denoise_crawler.contrib.rendering.middleware import RenderingMiddleware

        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", RenderingMiddleware, MIDDLEWARE_ORDER
        )
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", ScriptPagesMiddleware, SCRIPT_PAGES_ORDER
        )
        settings.set("PLAYWRIGHT_ABORT_REQUEST", should_abort, "addon")
        if (browser := next(filter(None, map(shutil.which, _BROWSERS)), None)) is not None:
            settings.set("PLAYWRIGHT_LAUNCH_OPTIONS", {"executable_path": browser}, "addon")
        handlers = dict.fromkeys(("http", "https"), _HANDLER) | settings.getdict("DOWNLOAD_HANDLERS")
        settings.set("DOWNLOAD_HANDLERS", handlers, max(settings.getpriority("DOWNLOAD_HANDLERS") or 0, 15))


# --- which requests of scripts and styles are allowed while a page is rendered

# These change neither the text nor, if their sizes are declared, its position.
UNNEEDED_TYPES = frozenset({"image", "media", "font"})


def should_abort(request: BrowserRequest) -> bool:
    """Return True if to abort a request of a page (the setting PLAYWRIGHT_ABORT_REQUEST).

    Images, media and fonts are not fetched. No page may reach this machine or its network, by IP address or as
    ``localhost``, unless it comes from that very host.
    """
    return request.resource_type in UNNEEDED_TYPES or (_is_private_url(request.url) and not _is_own_host(request))


def _is_private_url(url: str) -> bool:
    address = literal_address(urlsplit(url).hostname or "")
    return bool(address) and is_private(address)


def _is_own_host(request: BrowserRequest) -> bool:
    """Return True if the request is for the page itself, or goes to the host the page came from."""
    top: Frame = request.frame
    while top.parent_frame is not None:
        top = top.parent_frame
    if urlsplit(top.url).scheme not in ("http", "https"):
        return request.is_navigation_request() and request.frame is top
    return urlsplit(top.url).netloc == urlsplit(request.url).netloc
