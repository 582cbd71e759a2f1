"""What every spider of ours does: start, keep to the limit, count failures, give up refusing hosts."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sized
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from denoise_crawler.crawl.politeness import POLITE_SETTINGS
from denoise_crawler.crawl.scrapy_versions import require_scrapy, scheduler_of
from denoise_crawler.crawl.setup_errors import abort_on_setup_error
from denoise_crawler.errors import BadArgumentError, OldScrapyError
from denoise_crawler.page.host_names import without_port
from denoise_crawler.page.site import host_of
from denoise_crawler.spiders.frontier import Frontier
from denoise_crawler.spiders.links import LinkFilter, scope_of
from denoise_crawler.spiders.private_hosts import PrivateHostsMiddleware
from denoise_crawler.spiders.refused_hosts import (
    REFUSALS_IN_A_ROW,
    RefusedHosts,
    RefusedHostsMiddleware,
)
from denoise_crawler.spiders.request_failures import ADVICE, failure_kind

if TYPE_CHECKING:
    from typing_extensions import Self

# Close to the downloader: a request that waited for its turn meets the newest state of its host, and one that a
# redirect, robots.txt or a proxy made of another comes by too.
_MIDDLEWARES = {PrivateHostsMiddleware: 940, RefusedHostsMiddleware: 950}


class PageSpider(Spider):
    """Base of the spiders; itself not a spider Scrapy lists, having no name.

    A subclass sets ``stats_room`` and ``start_urls``, and turns an address of one of its kinds into a request
    (:meth:`request_for`). Its callbacks return :meth:`outcome`.
    """

    custom_settings: dict[str, Any] | None = {**POLITE_SETTINGS}  # noqa: RUF012 - as Scrapy declares it
    stats_room = "denoise/page"

    def __init__(self, sites: list[str], max_pages: int, links: LinkFilter | None = None) -> None:
        super().__init__()
        self.links = links or LinkFilter(sites)
        self.max_pages = max_pages
        self.state: dict[str, Any] = {}
        self.frontier = Frontier(self.state, max_pages)
        self.refused_hosts = RefusedHosts()
        self.allowed_domains = [without_port(site) for site in self.links.sites]
        self._hosts_asked: set[str] = set()
        self._told = False

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Add the middlewares that keep away from private hosts and from those given up."""
        super().update_settings(settings)
        middlewares = {**_MIDDLEWARES, **settings.getdict("DOWNLOADER_MIDDLEWARES")}
        # At the priority of the setting itself it would be lost: the crawl command merges its settings again.
        settings.set("DOWNLOADER_MIDDLEWARES", middlewares, priority="spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider; where an argument is bad or Scrapy too old, the crawl does not begin."""
        with abort_on_setup_error(crawler, (BadArgumentError, OldScrapyError)):
            require_scrapy(f"the spider {cls.name}")
            try:
                spider = super().from_crawler(crawler, *args, **kwargs)
            except BadArgumentError as error:
                raise BadArgumentError(f"{cls.name}: {error}") from None
        crawler.signals.connect(spider.on_engine_started, signals.engine_started)
        crawler.signals.connect(spider.on_scheduled, signals.request_scheduled)
        crawler.signals.connect(spider.on_response, signals.response_downloaded)
        crawler.signals.connect(spider.on_dropped, signals.request_dropped)
        crawler.signals.connect(spider.on_idle, signals.spider_idle)
        return spider

    def on_engine_started(self) -> None:
        """Take up what an earlier run of the job left; Scrapy has filled ``state`` by now."""
        self.frontier = Frontier(self.state, self.max_pages)
        for site in self.frontier.sites:
            self._add_site(site)
        scheduler = scheduler_of(self.crawler)
        self.frontier.resume(len(scheduler) if isinstance(scheduler, Sized) else 0)

    async def start(self) -> AsyncIterator[Any]:
        """Ask for the start pages, without ``dont_filter``: a resumed job does not fetch them again."""
        if self.max_pages and self.frontier.pages >= self.max_pages:
            self.logger.info("max_pages=%d was reached in an earlier run of this job", self.max_pages)
        for url in self.start_urls:
            self.offer_start(url)
        for request in self.next_requests():
            yield request

    def offer_start(self, url: str) -> None:
        """Put a start address into the frontier."""
        self.frontier.offer(url, "start", page=True)

    def given_urls(self) -> list[str]:
        """Return the addresses that the user named: these may be of this machine or of a private network."""
        return list(self.start_urls)

    def request_for(self, url: str, kind: str) -> Request:
        """Build the request for an address of the frontier."""
        raise NotImplementedError

    def next_requests(self) -> list[Request]:
        """Return the requests that may be made now."""
        requests = [self.request_for(url, kind) for url, kind in self.frontier.take()]
        self._hosts_asked.update(host_of(request.url) for request in requests)
        return requests

    def outcome(self, *items: Any) -> list[Any]:
        """Close the account of one answer: what a callback returns, items first, then the next requests.

        A list, not a generator: between two steps of a generator other answers would use up the limit.
        """
        self.frontier.answered()
        return [*items, *self.next_requests()]

    def arrived(self, response: Response, *, start: bool) -> bool:
        """Tell whether an answer is one to be read; count it if it is an error or led off the sites."""
        if response.status != 200:
            self.count_failure(f"http_{response.status}")
            return False
        if not self.landed(response, start=start):
            self.count("offsite")
            return False
        return True

    def landed(self, response: Response, *, start: bool) -> bool:
        """Note a good answer; False if a redirect led off the sites. A start page brings its new site in."""
        for url in response.meta.get("redirect_urls", []):
            self._hosts_asked.discard(host_of(url))
        self._hosts_asked.add(host_of(response.url))
        if start and not self.links.on_site(response.url):
            self.frontier.add_site(scope_of(response.url))
            self._add_site(scope_of(response.url))
        return self.links.on_site(response.url)

    def failed(self, failure: Failure) -> list[Any]:
        """Count what went wrong with a request; errors are never fatal (errback)."""
        request: Request = failure.request  # type: ignore[attr-defined]
        kind = failure_kind(failure)
        if kind == "robots":
            self.count("robots_forbidden")
        else:
            self.count_failure(kind)
        if request.cb_kwargs.get("start"):
            self.tell_start_failed(request.meta.get("redirect_urls", [request.url])[0], kind, failure)
        else:
            level = logging.DEBUG if kind == "robots" else logging.INFO
            self.logger.log(level, "no page from %s: %s (%s)", request.url, kind, failure.getErrorMessage())
        if self.refused_hosts.given_up and self.hopeless():
            # Ending here, not draining: in a job the addresses still scheduled stay for a later run.
            raise CloseSpider("refused")
        return self.outcome()

    def count_failure(self, kind: str) -> None:
        """Count a failure in all and by kind."""
        self.count("failed")
        self.count(f"failed/{kind}")

    def tell_start_failed(self, url: str, kind: str, failure: Failure) -> None:
        """Say that a start page gave nothing, why, and what to do."""
        reason = ADVICE.get(kind, str(failure.value) or type(failure.value).__name__)
        self.tell("the start page %s could not be read (%s): %s", url, kind, reason)

    def tell(self, message: str, *values: object) -> None:
        """Log an error meant for the user."""
        self._told = True
        self.logger.error(message, *values)

    def count(self, name: str) -> None:
        """Count one in ``<stats_room>/<name>``."""
        self.crawler.stats.inc_value(f"{self.stats_room}/{name}")

    def hopeless(self) -> bool:
        """Tell whether the hosts given up are all that could give a page."""
        return self._hosts_asked <= self.refused_hosts.given_up

    def on_scheduled(self, request: Request) -> None:
        """Let the robots.txt be read of a host that a start page redirects to: it is no page, so no start page."""
        if request.cb_kwargs.get("start"):
            self._allow(scope_of(request.url))

    def on_response(self, response: Response, request: Request) -> None:
        """Watch for a host that refuses again and again, retries included."""
        if urlsplit(request.url).path == "/robots.txt":
            return
        if self.refused_hosts.answered(request.url, response.status):
            self.count("hosts_given_up")
            self.logger.warning(
                "%s refuses to serve us (HTTP %d, %d answers in a row): nothing more is asked of it in this "
                "crawl. Come back later with a larger DENOISE_DELAY_MIN",
                host_of(request.url),
                response.status,
                REFUSALS_IN_A_ROW,
            )

    def _add_site(self, site: str) -> None:
        self.links.add_site(site)
        self._allow(site)

    def _allow(self, site: str) -> None:
        if without_port(site) not in self.allowed_domains:
            self.allowed_domains.append(without_port(site))

    def on_dropped(self) -> None:
        """Free the place of a request Scrapy dropped as a duplicate, such as a redirect to a known page."""
        self.frontier.answered()

    def on_idle(self) -> None:
        """Go on with addresses that still wait: at idle no request is on its way, whatever became of it."""
        self.frontier.resume(0)
        if requests := self.next_requests():
            for request in requests:
                self.crawler.engine.crawl(request)
            raise DontCloseSpider

    def closed(self, reason: str) -> None:
        """Say so when a crawl ran to its end and found nothing at all."""
        if reason == "finished" and not self.frontier.pages and not self._told:
            self.tell("the crawl ended without one page, starting from %s", " ".join(self.start_urls))


def now_utc() -> str:
    """Return the present time, ISO 8601 in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
