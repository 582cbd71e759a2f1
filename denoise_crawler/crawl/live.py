"""The live page: during a crawl, what is known, cleaned and removed so far, at http://127.0.0.1:PORT/denoise.

Off by default; ``DENOISE_LIVE = True`` turns it on, ``DENOISE_LIVE_PORT`` is a port or the first and last to try.
It listens on the loopback interface only, answers requests for ``127.0.0.1`` and ``localhost`` alone (so that no
web page can reach it by a name of its own), changes nothing, and costs nothing until someone looks.
"""

from __future__ import annotations

import logging
import re
from collections import deque
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.reactor import listen_tcp
from twisted.internet.error import CannotListenError
from twisted.web.resource import Resource
from twisted.web.server import Site

from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.warmup import Warmup
from denoise_crawler.page import Page
from denoise_crawler.report.figures import PageFigures, Sizes
from denoise_crawler.report.page_view import page_view
from denoise_crawler.report.rendering import render_page

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.web.http import Request
    from typing_extensions import Self

    from denoise_crawler.crawl.source import Source
    from denoise_crawler.denoiser import Cleaned

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
_HOST = re.compile(rb"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_SITES, _LAST_PAGES = 50, 20
_LONGEST = 2_000_000  # characters of a page that is kept to be looked at
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


@dataclass(slots=True)
class LiveSite:
    """One site: pages seen by the warm-up, items cleaned and waiting, characters before and after."""

    name: str
    pages_seen: int = 0
    ready: bool = False
    cleaned: int = 0
    waiting: int = 0
    sizes: Sizes = field(default_factory=Sizes)


@dataclass(frozen=True, slots=True)
class LastPage:
    """A page that was cleaned; ``html`` is empty for one too long to be kept."""

    number: int
    site: str
    figures: PageFigures
    html: str


class WatchedWarmup(Warmup):
    """A warm-up that remembers what it cleaned: by site the sums, and the last pages."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.last: deque[LastPage] = deque(maxlen=_LAST_PAGES)
        self._cleaned: dict[str, LiveSite] = {}

    def fill(self, item: Any, source: Source) -> Any:
        """Fill ``item`` and count it."""
        filled = super().fill(item, source)
        self._cleaned_site(source.page.site).cleaned += 1
        return filled

    def page_cleaned(self, cleaned: Cleaned) -> None:
        """Count a page that was cleaned and keep it to be looked at."""
        super().page_cleaned(cleaned)
        page, figures = cleaned.page, _figures(cleaned)
        self._cleaned_site(page.site).sizes.add(figures.sizes)
        html = page.markup
        number = self.last[0].number + 1 if self.last else 1
        self.last.appendleft(LastPage(number, page.site, figures, html if len(html) <= _LONGEST else ""))

    def _cleaned_site(self, name: str) -> LiveSite:
        return self._cleaned.setdefault(name, LiveSite(name))

    def live_sites(self) -> list[LiveSite]:
        """Return the sites of this crawl, those with most pages first."""
        progress_by_site = dict(self.sites.all_progress())
        found = {name: LiveSite(name) for name in progress_by_site} | self._cleaned
        for name, progress in progress_by_site.items():
            found[name].pages_seen, found[name].ready = progress.pages_seen, progress.ready
        ordered = sorted(found.values(), key=lambda site: (-site.cleaned, -site.pages_seen, site.name))
        for site in ordered[:_SITES]:
            site.waiting = self.waiting.count(site.name)
        return ordered


def _figures(cleaned: Cleaned) -> PageFigures:
    page = cleaned.page
    return PageFigures(page.url, page.title, Sizes(visible=cleaned.visible, kept=cleaned.kept))


class LivePage:
    """The extension: serves the page from the start of the engine to its end."""

    def __init__(self, crawler: Crawler) -> None:
        settings = DenoiseSettings.from_settings(crawler.settings)
        if not settings.live:
            raise NotConfigured
        if not crawler.settings.getbool("TWISTED_REACTOR_ENABLED"):
            raise NotConfigured("DENOISE_LIVE needs a Twisted reactor: set it to False")
        warmup = WatchedWarmup.of(crawler)
        if not isinstance(warmup, WatchedWarmup):
            raise NotConfigured(
                "DENOISE_LIVE: give denoise_crawler.crawl.live.LivePage a lower number in EXTENSIONS"
            )
        self._ports = settings.live_ports
        self._crawler = crawler
        self._site: Any = _QuietSite(_LiveResource(warmup, crawler))  # type: ignore[no-untyped-call]
        self._port: Any = None
        crawler.signals.connect(self._start, signals.engine_started)
        crawler.signals.connect(self._stop, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Set up; raise NotConfigured where it is off, SettingError or StoreError."""
        return cls(crawler)

    def _start(self) -> None:
        try:
            self._port = listen_tcp(list(self._ports), LOOPBACK, self._site)
        except CannotListenError as error:
            logger.error("The live page has no port (DENOISE_LIVE_PORT is %s): %s", self._ports, error)
            return
        logger.info("The live page is at http://%s:%d/denoise", LOOPBACK, self._port.getHost().port)

    def _stop(self) -> Any:
        return self._port.stopListening() if self._port is not None else None


class _QuietSite(Site):
    """A site that writes no log and tells no error to those who ask."""

    noisy = False
    displayTracebacks = False  # noqa: N815 - Twisted's name

    def log(self, request: Request) -> None:
        """Write nothing."""


class _LiveResource(Resource):
    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, warmup: WatchedWarmup, crawler: Crawler) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._warmup, self._crawler = warmup, crawler

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
            return 405, "Nothing can be changed here."
        path = request.path.decode("ascii", "replace").rstrip("/")
        if path == "":
            return 302, ""
        if path == "/denoise":
            return 200, render_page("live.html", scripts=["live.js"], connect="'self'", **self._now())
        if path == "/denoise/now":
            return 200, render_page("live_now.html", **self._now())
        number = path.removeprefix("/denoise/page/")
        last = next((last for last in self._warmup.last if str(last.number) == number), None)
        if last is None:
            return 404, "There is no such page; only the last ones are kept."
        return 200, self._page(last)

    def _now(self) -> dict[str, Any]:
        warmup = self._warmup
        counts = warmup.counts
        sites = warmup.live_sites()
        spider = self._crawler.spidercls.name if self._crawler.spidercls else ""
        return {
            "spider": spider,
            "method": warmup.settings.choice.name,
            "quota": warmup.settings.warmup_pages,
            "counts": {name: counts.of(name) for name in _COUNTS},
            "waiting": warmup.waiting.count(),
            "sizes": Sizes(visible=counts.of("characters_before"), kept=counts.of("characters_after")),
            "sites": sites[:_SITES],
            "more_sites": max(0, len(sites) - _SITES),
            "last": list(warmup.last),
            "version": version("denoise-crawler"),
        }

    def _page(self, last: LastPage) -> str:
        page = Page.parse(last.figures.url, last.html, site=last.site)
        cleaned = self._warmup.sites.clean_again(page)
        return render_page(
            "live_page.html",
            scripts=["page.js"],
            page=_figures(cleaned),
            site=last.site,
            view=page_view(cleaned),
            text=cleaned.clean_page.text,
            language=None,
            version=version("denoise-crawler"),
        )
