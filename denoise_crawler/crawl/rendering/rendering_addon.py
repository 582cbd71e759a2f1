"""The rendering add-on: ``ADDONS = {…, "denoise_crawler.Rendering": 320}``."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING

from denoise_crawler.crawl.scrapy_versions import require_scrapy
from denoise_crawler.crawl.script_pages import ScriptPagesMiddleware
from denoise_crawler.crawl.setup_errors import abort_on_setup_error
from denoise_crawler.errors import SettingError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
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
            require_scrapy("denoise_crawler.Rendering")
            if find_spec("scrapy_playwright") is None:
                raise SettingError(
                    "ADDONS names denoise_crawler.Rendering, which needs scrapy-playwright: "
                    "pip install 'denoise-crawler[playwright]'"
                )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the add-on. Without scrapy-playwright, or on an older Scrapy, no crawl begins."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components."""
        from denoise_crawler.crawl.rendering.rendering_middleware import RenderingMiddleware
        from denoise_crawler.crawl.rendering.subrequests import should_abort

        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", RenderingMiddleware, MIDDLEWARE_ORDER
        )
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", ScriptPagesMiddleware, 90)
        settings.set("PLAYWRIGHT_ABORT_REQUEST", should_abort, "addon")
        if (browser := next(filter(None, map(shutil.which, _BROWSERS)), None)) is not None:
            settings.set("PLAYWRIGHT_LAUNCH_OPTIONS", {"executable_path": browser}, "addon")
        handlers = dict.fromkeys(("http", "https"), _HANDLER) | settings.getdict("DOWNLOAD_HANDLERS")
        settings.set("DOWNLOAD_HANDLERS", handlers, max(settings.getpriority("DOWNLOAD_HANDLERS") or 0, 15))
