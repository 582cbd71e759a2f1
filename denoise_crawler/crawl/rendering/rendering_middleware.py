"""The downloader middleware that has pages rendered, and hands what the browser drew to the denoiser.

Stats, all under ``denoise/rendering/``:

=================== ===================================================================
``pages``           pages that were rendered
``asked_again``     of them, those fetched without a browser first
``empty``           rendered pages that still have next to no text
``elements``        elements measured, ``hidden`` the outermost of them that are not drawn
=================== ===================================================================
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse
from scrapy_playwright.page import PageMethod

from denoise_crawler.crawl.pages import META_KEY
from denoise_crawler.crawl.rendering.page_snapshot import PageSnapshot, take_snapshot
from denoise_crawler.crawl.script_pages import needs_script
from denoise_crawler.errors import SettingError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

logger = logging.getLogger(__name__)

MODES = ("needed", "always", "asked")
DEFAULT_WAIT = 5.0
_OURS = "rendered"


class RenderingMiddleware:
    """Has the pages rendered that need it (DENOISE_RENDER).

    The response that the spider gets is what scrapy-playwright makes of it. The page that is judged is
    ``response.meta["denoise_page"]``: the same with geometry and visibility.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._mode = _mode(crawler.settings)
        self._wait = _wait(crawler.settings)
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Set up; raise SettingError."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Have the page read as soon as it is rendered."""
        meta = request.meta
        if (known := meta.get(META_KEY)) and _OURS in known:
            del meta[META_KEY]  # of the page where a spider found this request
        if meta.get("playwright"):
            meta["playwright_page_methods"] = [*_others(meta), PageMethod(take_snapshot, self._wait)]

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Attach what was drawn; ask again, by the browser, for a page that needs it."""
        if not isinstance(response, HtmlResponse):
            return response
        if request.meta.get("playwright"):
            self._attach(request, response)
            return response
        return self._rendered_request(request) if self._is_due(request, response) else response

    def _attach(self, request: Request, response: HtmlResponse) -> None:
        drawn = next((method.result for method in _methods(request.meta) if _is_ours(method)), None)
        request.meta["playwright_page_methods"] = _others(request.meta)
        if not isinstance(drawn, PageSnapshot):  # a download, no page
            return
        request.meta[META_KEY] = {"url": response.url, "html": drawn.html, _OURS: True}
        self._count("pages")
        self._count("elements", drawn.elements)
        self._count("hidden", drawn.hidden)
        if needs_script(response) and not self._count("empty"):
            logger.warning("%s has next to no text in a browser either", response.url)

    def _is_due(self, request: Request, response: HtmlResponse) -> bool:
        if self._mode == "asked" or request.method != "GET" or response.status != 200:
            return False
        return self._mode == "always" or needs_script(response)

    def _rendered_request(self, request: Request) -> Request:
        self._count("asked_again")
        # the same request to a cache, which knows the page without a browser
        meta = {**request.meta, "playwright": True, "dont_cache": True}
        return request.replace(meta=meta, dont_filter=True)

    def _count(self, name: str, by: int = 1) -> int:
        stats = self._crawler.stats
        before: int = stats.get_value(f"denoise/rendering/{name}", 0)
        stats.inc_value(f"denoise/rendering/{name}", by)
        return before


def _methods(meta: dict[str, Any]) -> list[Any]:
    methods = meta.get("playwright_page_methods") or ()
    return list(methods.values() if isinstance(methods, dict) else methods)


def _is_ours(method: Any) -> bool:
    return getattr(method, "method", None) is take_snapshot


def _others(meta: dict[str, Any]) -> list[Any]:
    """Return the page methods of the spider; a request that is retried has ours already."""
    return [method for method in _methods(meta) if not _is_ours(method)]


def _mode(settings: BaseSettings) -> str:
    mode = settings.get("DENOISE_RENDER") or "needed"
    if mode not in MODES:
        raise SettingError(f"DENOISE_RENDER is {mode!r}: set it to one of {', '.join(MODES)}")
    return str(mode)


def _wait(settings: BaseSettings) -> float:
    value = settings.get("DENOISE_RENDER_WAIT", DEFAULT_WAIT)
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 <= seconds <= 600:
        raise SettingError(f"DENOISE_RENDER_WAIT is {value!r}: set it to a number of seconds, 0 to 600")
    return seconds
