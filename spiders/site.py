"""The spider ``site``: every HTML page of any site."""

from __future__ import annotations

from typing import Any

from scrapy import Request
from scrapy.http import HtmlResponse, Response

from denoise_crawler.errors import BadArgumentError
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.spiders.links import is_on_site, link_extractor, page_links, scope_of
from denoise_crawler.spiders.page_spider import (
    PageSpider,
    now_utc,
    read_count,
    read_patterns,
    read_urls,
    reject_unknown,
)

_ARGUMENTS = ("start_url", "max_pages", "allow", "deny")


class SiteSpider(PageSpider):
    """Yields one :class:`CleanPage` per HTML page (status 200) and follows the links within the site.

    Arguments (``-a name=value``):

    - ``start_url``: one or more URLs, separated by commas or spaces. Each is fetched, also if ``allow`` and
      ``deny`` would not allow a link to it. The site is its host without ``www.``, with all subdomains; a host
      with a port and an IP address stand only for themselves. If a start page redirects to another host, that host
      belongs to the site too.
    - ``max_pages``: exactly so many pages become items, unless the site has fewer (0 or absent: no limit). Errors,
      files that are no HTML, and duplicates do not count. With JOBDIR it applies to the whole job and should stay
      the same in all its runs.
    - ``allow``, ``deny``: regular expressions, separated by spaces, searched in the URL of a link. A link is
      followed if any of ``allow`` matches (or there is none) and none of ``deny``.

    ``noindex`` is ignored, because it addresses search engines. ``nofollow`` is obeyed.
    """

    name = "site"
    stats_prefix = "denoise/site"

    def __init__(
        self,
        start_url: str | None = None,
        max_pages: str | int | None = None,
        allow: str | None = None,
        deny: str | None = None,
        **others: Any,
    ) -> None:
        reject_unknown(others, _ARGUMENTS)
        urls = read_urls("start_url", start_url)
        if not urls:
            raise BadArgumentError("start_url is missing; write -a start_url=https://example.com/")
        super().__init__([scope_of(url) for url in urls], read_count("max_pages", max_pages))
        self.start_urls = urls
        self.extractor = link_extractor(read_patterns("allow", allow), read_patterns("deny", deny))

    def parse(self, response: Response, start: bool = False, **kwargs: Any) -> list[Any]:  # noqa: ARG002
        """Make an item of a page, and requests of its links."""
        if not self.is_usable(response, start=start):
            return []
        if not isinstance(response, HtmlResponse):
            self._skip_response(response, start=start)
            return []
        self.count_page()
        return [CleanPage(url=response.url, fetched_at=now_utc()), *self._requests(response, start=start)]

    def _requests(self, response: HtmlResponse, *, start: bool) -> list[Request]:
        urls = [url for url in page_links(response, self.extractor) if is_on_site(url, self.sites)]
        if start and not urls and self.max_pages != 1:
            self.log_error(
                "the start page %s has no link to follow (%d links in all): start from another page, or "
                "widen allow and deny. A page built by JavaScript has its links only in a browser",
                response.url,
                len(page_links(response)),
            )
        return [Request(url, self.parse, errback=self.failed) for url in urls]

    def _skip_response(self, response: Response, *, start: bool) -> None:
        self.count("not_html")
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        if start:
            self.log_error("the start page %s is no HTML page but %r: start from one", response.url, content_type)
        else:
            self.logger.debug("no HTML page: %s (%s)", response.url, content_type)
