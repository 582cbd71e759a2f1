"""The rendering add-on, ``ADDONS = {…, "denoise_crawler.Rendering": 320}``, and the snapshots that it takes."""

from __future__ import annotations

import asyncio
import logging
import shutil
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.async_api import Page as BrowserPage
from playwright.async_api import TimeoutError as BrowserTimeout
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.settings import BaseSettings
from scrapy_playwright.page import PageMethod

from denoise_crawler.crawl.item_fate import ItemFate
from denoise_crawler.crawl.middleware import SCRIPT_PAGES_ORDER, ScriptPagesMiddleware, needs_script
from denoise_crawler.crawl.scrapy_internals import require_scrapy
from denoise_crawler.crawl.settings import abort_on_setup_error
from denoise_crawler.crawl.settings_table import RenderingSettings
from denoise_crawler.crawl.source_page import is_opted_out, page_of_response
from denoise_crawler.crawl.stored_response import PAGE_KEY
from denoise_crawler.errors import RenderingError, SettingError
from denoise_crawler.output.extractors import RENDER
from denoise_crawler.output.writing import Writing
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
        pass

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


# --- a snapshot of a page as a browser shows it, taken in one evaluation

TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class PageSnapshot:
    """A rendered page.

    Attributes:
        html: The HTML with ``data-box`` and ``hidden`` attributes.
        elements: How many elements it has.
        hidden: How many outermost elements are not shown.
    """

    html: str
    elements: int
    hidden: int


async def take_snapshot(
    page: BrowserPage, wait_seconds: float = 0.0, timeout_seconds: float = TIMEOUT_SECONDS
) -> PageSnapshot:
    """Read a page, when its network is idle or ``wait_seconds`` are over.

    Raises:
        RenderingError: The scripts of the page keep the browser busy for longer.
    """
    if wait_seconds > 0:
        with suppress(BrowserTimeout):
            await page.wait_for_load_state("networkidle", timeout=wait_seconds * 1000)
    try:
        found = await asyncio.wait_for(page.evaluate(_script()), timeout_seconds)
    except asyncio.TimeoutError:
        raise RenderingError(f"{page.url} keeps the browser busy: not read after {timeout_seconds:g} s") from None
    return PageSnapshot(found["html"], found["elements"], found["hidden"])


@cache
def _script() -> str:
    return resources.files(__package__).joinpath("page_snapshot.js").read_text("utf-8")


logger = logging.getLogger(__name__)

_RENDERED = "rendered"


class RenderingMiddleware:
    """Has pages rendered that need it (DENOISE_RENDER).

    The spider gets the response that scrapy-playwright makes. The page that is judged is
    ``response.meta["denoise_page"]``: the same page, with geometry and visibility.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._settings = RenderingSettings.read(crawler.settings)
        self._crawler = crawler
        unsure = Writing.read(crawler.settings)
        self._renders_unsure = unsure.min_confidence > 0 and unsure.low_confidence == RENDER

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware; raise SettingError."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Have a snapshot taken as soon as the page is rendered."""
        meta = request.meta
        if (known := meta.get(PAGE_KEY)) and _RENDERED in known:
            del meta[PAGE_KEY]  # it belongs to the page on which a spider found this request
        if meta.get("playwright"):
            meta["playwright_page_methods"] = [
                *_spider_methods(meta),
                PageMethod(take_snapshot, self._settings.render_wait),
            ]

    async def process_response(self, request: Request, response: Response) -> Response | Request:
        """Attach the snapshot; request a page again, by the browser, if it needs one."""
        if not isinstance(response, HtmlResponse):
            return response
        if request.meta.get("playwright"):
            self._attach_snapshot(request, response)
            return response
        return self._rendered_request(request) if await self._must_render(request, response) else response

    def _attach_snapshot(self, request: Request, response: HtmlResponse) -> None:
        snapshot = next((method.result for method in _page_methods(request.meta) if _is_snapshot(method)), None)
        request.meta["playwright_page_methods"] = _spider_methods(request.meta)
        if not isinstance(snapshot, PageSnapshot):  # a download
            return
        request.meta[PAGE_KEY] = {"url": response.url, "html": snapshot.html, _RENDERED: True}
        self._count("pages")
        self._count("elements", snapshot.elements)
        self._count("hidden", snapshot.hidden)
        if needs_script(response) and not self._count("empty"):
            logger.warning("%s has hardly any text in a browser either", response.url)

    async def _must_render(self, request: Request, response: HtmlResponse) -> bool:
        if request.method != "GET" or response.status != 200:
            return False
        mode = self._settings.render
        if mode != "asked" and (mode == "always" or needs_script(response)):
            return True
        return self._renders_unsure and not is_opted_out(response) and await self._is_unsure(response)

    async def _is_unsure(self, response: HtmlResponse) -> bool:
        """Return True if the page is less sure than DENOISE_MIN_CONFIDENCE, by what is known of its site now."""
        fate = ItemFate.of(self._crawler)
        try:
            page = page_of_response(response, fate.settings.site)
            if page is None or await fate.sites.skipped(page):
                return False
            if not (await fate.sites.cleaner.preview(page)).clean_page.low_confidence:
                return False
        except Exception:  # a page that fails is not rendered for that
            fate.report.page_failed(response.url)
            return False
        self._count("unsure")
        return True

    def _rendered_request(self, request: Request) -> Request:
        self._count("asked_again")
        # A cache would return the page that was fetched without a browser.
        meta = {**request.meta, "playwright": True, "dont_cache": True}
        return request.replace(meta=meta, dont_filter=True)

    def _count(self, name: str, by: int = 1) -> int:
        stats = self._crawler.stats
        before: int = stats.get_value(f"denoise/rendering/{name}", 0)
        stats.inc_value(f"denoise/rendering/{name}", by)
        return before


def _page_methods(meta: dict[str, Any]) -> list[Any]:
    methods = meta.get("playwright_page_methods") or ()
    return list(methods.values() if isinstance(methods, dict) else methods)


def _is_snapshot(method: Any) -> bool:
    return getattr(method, "method", None) is take_snapshot


def _spider_methods(meta: dict[str, Any]) -> list[Any]:
    """Return the page methods of the spider. A request that is retried has a snapshot already."""
    return [method for method in _page_methods(meta) if not _is_snapshot(method)]
