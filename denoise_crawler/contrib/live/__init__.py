"""The live page: what a running crawl has learned, cleaned and removed, at http://127.0.0.1:PORT/denoise.

The extension is ``EXTENSIONS = {"denoise_crawler.contrib.live.LivePage": 0}``.
``DENOISE_LIVE_PORT`` is a port, or the first and the last port to try. The page is on the loopback interface
only. It answers to ``127.0.0.1`` and ``localhost`` only, so that no web page can reach it by another name. It
changes nothing, and costs almost nothing until someone looks.
"""

from __future__ import annotations

import logging
import re
from collections import deque
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from scrapy.utils.reactor import listen_tcp
from twisted.internet.error import CannotListenError
from twisted.web.http import Request
from twisted.web.resource import Resource
from twisted.web.server import Site

from denoise_crawler.crawl.crawl_denoiser import CrawlDenoiser
from denoise_crawler.crawl.report import page_cleaned
from denoise_crawler.crawl.settings import abort_on_missing_extra, abort_on_setup_error, is_off
from denoise_crawler.denoiser import Cleaned
from denoise_crawler.options import OptionTable, OptionType, option, require
from denoise_crawler.page import Page

with abort_on_missing_extra("commands"):  # jinja2, for the templates
    from denoise_crawler.report.figures import PageFigures, Sizes
    from denoise_crawler.report.rendering import page_view, render_page

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger(__name__)

TEMPLATES = Path(__file__).parent / "templates"
LOOPBACK = "127.0.0.1"
_HOST = re.compile(rb"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_MAX_SITES, _MAX_RECENT_PAGES = 50, 20
_MAX_HTML_CHARACTERS = 2_000_000
_COUNTS = ("pages", "parked", "replayed", "cleaned")
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def _parse_ports(value: Any) -> tuple[int, ...]:
    ports = tuple(map(int, [value] if isinstance(value, int) else BaseSettings({"": value}).getlist("")))
    in_order = len(ports) in (1, 2) and list(ports) == sorted(ports)
    return require(ports, in_order and all(0 <= port < 65_536 for port in ports))


PORTS = OptionType("a port, or to a list of the first and the last port to try", _parse_ports)


@dataclass(frozen=True)
class LiveSettings(OptionTable):
    """Where the live page is."""

    ports: tuple[int, ...] = option("DENOISE_LIVE_PORT", [6080, 6089], PORTS)
    """The port, or the first and the last port to try. ``0`` stands for any free port."""


@dataclass(slots=True)
class LiveSite:
    """One site: pages seen in its warm-up, items cleaned and waiting, characters before and after."""

    name: str
    pages_seen: int = 0
    ready: bool = False
    cleaned: int = 0
    waiting: int = 0
    sizes: Sizes = field(default_factory=Sizes)


@dataclass(frozen=True, slots=True)
class RecentPage:
    """A cleaned page. ``html`` is empty if the page is too long to keep."""

    number: int
    site: str
    figures: PageFigures
    html: str


class CleanedPages:
    """What a crawl has cleaned: sums by site, and the recent pages."""

    def __init__(self, crawler: Crawler) -> None:
        self.denoiser = CrawlDenoiser.of(crawler)
        self.recent: deque[RecentPage] = deque(maxlen=_MAX_RECENT_PAGES)
        self._sizes: dict[str, Sizes] = {}
        crawler.signals.connect(self._add, page_cleaned)

    def _add(self, page: Page, cleaned: Cleaned) -> None:
        figures, html = _figures(cleaned), page.markup
        self._sizes.setdefault(page.site, Sizes()).add(figures.sizes)
        number = self.recent[0].number + 1 if self.recent else 1
        self.recent.appendleft(
            RecentPage(number, page.site, figures, html if len(html) <= _MAX_HTML_CHARACTERS else "")
        )

    def sites(self) -> list[LiveSite]:
        """Return the sites of this crawl, those with most cleaned items first."""
        rows = [
            LiveSite(
                site.name,
                site.pages_seen,
                site.is_ready,
                site.items_cleaned,
                sizes=self._sizes.get(site.name, Sizes()),
            )
            for site in self.denoiser.sites.all()
        ]
        rows.sort(key=lambda site: (-site.cleaned, -site.pages_seen, site.name))
        for site in rows[:_MAX_SITES]:
            site.waiting = self.denoiser.waiting.count(site.name)
        return rows


def _figures(cleaned: Cleaned) -> PageFigures:
    page = cleaned.clean_page
    return PageFigures(page.url, page.title, Sizes(visible=cleaned.visible, kept=cleaned.kept))


class LivePage:
    """The extension that serves the page while the engine runs."""

    def __init__(self, crawler: Crawler) -> None:
        if is_off(crawler.settings):
            raise NotConfigured
        with abort_on_setup_error(crawler):
            self._ports = LiveSettings.read(crawler.settings).ports
        if not crawler.settings.getbool("TWISTED_REACTOR_ENABLED"):
            raise NotConfigured("the live page needs a Twisted reactor")
        self._crawler = crawler
        self._site: Any = _QuietSite(_LiveResource(CleanedPages(crawler), crawler))  # type: ignore[no-untyped-call]
        self._port: Any = None
        crawler.signals.connect(self._start, signals.engine_started)
        crawler.signals.connect(self._stop, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension; raise NotConfigured where it is off, SettingError or StoreError."""
        return cls(crawler)

    def _start(self) -> None:
        try:
            self._port = listen_tcp(list(self._ports), LOOPBACK, self._site)
        except CannotListenError as error:
            logger.error("The live page cannot open a port (DENOISE_LIVE_PORT is %s): %s", self._ports, error)
            return
        logger.info("The live page is at http://%s:%d/denoise", LOOPBACK, self._port.getHost().port)

    def _stop(self) -> Any:
        return self._port.stopListening() if self._port is not None else None


class _QuietSite(Site):
    """A site that writes no log and shows no tracebacks."""

    noisy = False
    displayTracebacks = False  # noqa: N815 - Twisted's name

    def log(self, request: Request) -> None:
        """Write nothing."""


class _LiveResource(Resource):
    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, cleaned: CleanedPages, crawler: Crawler) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._cleaned, self._crawler = cleaned, crawler

    def render(self, request: Request) -> bytes:
        """Answer a request."""
        code, body = self._answer(request)
        request.setResponseCode(code)
        for name, value in _HEADERS.items():
            request.setHeader(name, value)  # type: ignore[no-untyped-call]
        if code == 302:
            request.setHeader("Location", "/denoise")  # type: ignore[no-untyped-call]
        return body.encode("utf-8", "replace")

    def _answer(self, request: Request) -> tuple[int, str]:
        if not _HOST.fullmatch(request.getHeader(b"host") or b""):
            return 403, "Ask for 127.0.0.1 or localhost."
        if request.method not in (b"GET", b"HEAD"):
            return 405, "This page is read-only."
        path = request.path.decode("ascii", "replace").rstrip("/")
        if path == "":
            return 302, ""
        if path == "/denoise":
            return 200, render_page(
                "live.html", TEMPLATES, scripts=["live.js"], connect="'self'", **self._current_state()
            )
        if path == "/denoise/now":
            return 200, render_page("live_now.html", TEMPLATES, **self._current_state())
        number = path.removeprefix("/denoise/page/")
        recent = next((recent for recent in self._cleaned.recent if str(recent.number) == number), None)
        if recent is None:
            return 404, "There is no such page; only the last ones are kept."
        return 200, self._page(recent)

    def _current_state(self) -> dict[str, Any]:
        denoiser, counts = self._cleaned.denoiser, self._cleaned.denoiser.report
        sites = self._cleaned.sites()
        spider = self._crawler.spidercls.name if self._crawler.spidercls else ""
        return {
            "spider": spider,
            "method": denoiser.settings.choice.name,
            "quota": denoiser.settings.warmup_pages,
            "counts": {name: counts.of(name) for name in _COUNTS},
            "waiting": denoiser.waiting.count(),
            "sizes": Sizes(visible=counts.of("characters_before"), kept=counts.of("characters_after")),
            "sites": sites[:_MAX_SITES],
            "more_sites": max(0, len(sites) - _MAX_SITES),
            "last": list(self._cleaned.recent),
            "version": version("denoise-crawler"),
        }

    def _page(self, recent: RecentPage) -> str:
        page = Page.parse(recent.figures.url, recent.html, site=recent.site)
        cleaned = self._cleaned.denoiser.sites.preview(page)
        return render_page(
            "live_page.html",
            TEMPLATES,
            scripts=["page.js"],
            page=_figures(cleaned),
            site=recent.site,
            view=page_view(cleaned),
            language=None,
            version=version("denoise-crawler"),
        )
