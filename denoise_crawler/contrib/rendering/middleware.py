"""Downloader middleware that asks for a page again in a browser, and the snapshot that it takes there."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from playwright.async_api import Page as BrowserPage
from playwright.async_api import TimeoutError as BrowserTimeout
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy_playwright.page import PageMethod

from denoise_crawler.crawl.middleware import needs_script
from denoise_crawler.crawl.source_page import PAGE_KEY
from denoise_crawler.errors import RenderingError
from denoise_crawler.options import OptionTable, number, one_of, option

if TYPE_CHECKING:
    from typing_extensions import Self

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
        snapshot = await asyncio.wait_for(page.evaluate(_script()), timeout_seconds)
    except asyncio.TimeoutError:
        raise RenderingError(f"{page.url} keeps the browser busy: not read after {timeout_seconds:g} s") from None
    return PageSnapshot(snapshot["html"], snapshot["elements"], snapshot["hidden"])


@cache
def _script() -> str:
    return resources.files(__package__).joinpath("page_snapshot.js").read_text("utf-8")


logger = logging.getLogger(__name__)

_RENDERED = "rendered"


@dataclass(frozen=True)
class RenderingSettings(OptionTable):
    """Which pages are rendered, and how long a browser waits for them."""

    render: str = option("DENOISE_RENDER", "needed", one_of(("needed", "always", "asked")), empty_is_default=True)
    """``needed``: pages with scripts and fewer than 200 characters of text. ``always``: every HTML page.
    ``asked``: requests with ``meta={"playwright": True}``."""

    render_wait: float = option("DENOISE_RENDER_WAIT", 5.0, number("a number of seconds, 0 to 600", 600))
    """How long a loaded page may wait for the answers to its own requests."""


class RenderingMiddleware:
    """Has pages rendered that need it (DENOISE_RENDER).

    The spider gets the response that scrapy-playwright makes. The page that is judged is
    ``response.meta["denoise_page"]``: the same page, with geometry and visibility.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._settings = RenderingSettings.read(crawler.settings)
        self._crawler = crawler

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

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Attach the snapshot; request a page again, by the browser, if it needs one."""
        if not isinstance(response, HtmlResponse):
            return response
        if request.meta.get("playwright"):
            self._attach_snapshot(request, response)
            return response
        return self._rendered_request(request) if self._must_render(request, response) else response

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

    def _must_render(self, request: Request, response: HtmlResponse) -> bool:
        mode = self._settings.render
        if request.method != "GET" or response.status != 200 or mode == "asked":
            return False
        return mode == "always" or needs_script(response)

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
