"""The spider ``msn_news``: articles of MSN, or of any server that renders MSN's pages."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse

from denoise_crawler.crawl.middleware import needs_script
from denoise_crawler.errors import BadArgumentError
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.page.site import host_of
from denoise_crawler.spiders.links import feed_links, is_feed, is_on_site, link_extractor, page_links, scope_of
from denoise_crawler.spiders.page_spider import PageSpider, now_utc, read_count, read_urls, reject_unknown


@dataclass
class NewsPage(CleanPage):
    """The clean text of one article.

    Attributes:
        source: Where the text came from: ``detail`` (MSN's JSON interface) or ``html`` (the page itself).
        provider: The name of the publisher; detail mode only.
        authors: The authors; detail mode only.
        published: An ISO 8601 time as the publisher wrote it; detail mode only.
    """

    source: str = ""
    provider: str | None = None
    authors: list[str] = field(default_factory=list)
    published: str | None = None


# --- the JSON of an MSN article: its URL, and how to read it without trusting its types

_ARTICLE = re.compile(r"(?:ar|ss|vi|gm)-([A-Za-z0-9]+)")
_LOCALE = re.compile(r"[a-z]{2,3}-[a-z0-9]{2,8}(?:-[a-z0-9]{2,8})?")
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[0-9:.]*(?:Z|[+-]\d\d:?\d\d)?)?")


def article_id(url: str) -> str:
    """Return the id of an article, an empty string for other URLs.

    The whole last path segment must be ``ar-ID``, or the same with ``ss``, ``vi`` or ``gm``. A locale such as
    ``/ar-ae/news`` is no article.

    Example:
        >>> article_id("https://www.msn.com/en-us/news/a-title/ar-AA1xyz")
        'AA1xyz'
    """
    try:
        segment = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return ""
    match = _ARTICLE.fullmatch(segment)
    return match.group(1) if match else ""


def is_locale(text: str) -> bool:
    """Return True if the text looks like a locale: ``en-us``, ``zh-hans-cn``."""
    return _LOCALE.fullmatch(text) is not None


def locale_of(url: str, default: str) -> str:
    """Return the locale with which the path of an MSN URL begins, else ``default``."""
    first = urlsplit(url).path.lstrip("/").partition("/")[0].lower()
    return first if is_locale(first) else default


def detail_url_of(template: str, url: str, locale: str) -> str:
    """Fill in ``{id}`` and ``{locale}``, which is for articles whose URL has none, in the URL of the JSON."""
    address = template.replace("{locale}", locale_of(url, locale))
    return address.replace("{id}", quote(article_id(url), safe=""))


def read_detail(body: bytes, url: str, locale: str) -> tuple[NewsPage, str]:
    """Return an article at ``url`` of the JSON ``body``, and its HTML in the language of ``locale``.

    The HTML is empty if there is no text. A title, author, provider or time of a wrong type counts as absent.

    Raises:
        ValueError: ``body`` is no JSON object, or its text has an unexpected type.
    """
    record = _decode(body)
    if not isinstance(record, dict):
        raise ValueError(f"a JSON object was expected, not {type(record).__name__}")
    text = record.get("body")
    if text is not None and not isinstance(text, str):
        raise ValueError(f"body is not a text but {type(text).__name__}")
    title = _string(record.get("title"))
    provider = record.get("provider")
    named = provider if isinstance(provider, dict) else {}
    authors = [_string(author.get("name")) for author in _dicts(record.get("authors"))]
    times = [_string(record.get(name)) for name in ("publishedDateTime", "createdDateTime")]
    page = NewsPage(
        url=url,
        site=f"msn.com/{_slug(_string(named.get('id')) or _string(named.get('name')))}",
        title=title,
        fetched_at=now_utc(),
        source="detail",
        provider=_string(named.get("name")) or None,
        authors=[name for name in authors if name],
        published=next((time for time in times if _ISO_TIME.fullmatch(time)), None),
    )
    parts = [(text or "").strip(), *(_slides(record) if record.get("type") == "slideshow" else [])]
    content = "\n".join(part for part in parts if part)
    return page, _build_html(title, content, locale) if content else ""


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError(f"it is no JSON: {error}") from None


def _slides(record: dict[str, Any]) -> list[str]:
    slides = [(_string(slide.get("title")), _string(slide.get("body"))) for slide in _dicts(record.get("slides"))]
    return [f"<section><h2>{html.escape(title)}</h2>{body}</section>" for title, body in slides if title or body]


def _build_html(title: str, content: str, locale: str) -> str:
    escaped = html.escape(title)
    return (
        f'<!DOCTYPE html><html lang="{html.escape(locale)}"><head><meta charset="utf-8">'
        f"<title>{escaped}</title></head><body><article><h1>{escaped}</h1>\n{content}\n</article></body></html>"
    )


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _slug(name: str) -> str:
    return re.sub(r"[\W_]+", "-", name.lower()).strip("-") or "unknown"


def is_shell(response: HtmlResponse) -> bool:
    """Return True if a browser must build the page: it has scripts, no title of its own, and hardly any text."""
    if not needs_script(response):
        return False
    title = " ".join(response.selector.xpath("//title//text()").getall()).strip().casefold()
    return title in ("", "msn")


DETAIL_URL = "https://assets.msn.com/content/view/v2/Detail/{locale}/{id}"
_ARGUMENTS = ("start_url", "locale", "max_pages", "detail_url")
_ARTICLE_PRIORITY = 10


class MsnNewsSpider(PageSpider):
    """Yields one :class:`NewsPage` per article.

    Today MSN's own article pages are empty shells. In detail mode the text of each article comes from MSN's JSON
    interface. With an empty ``detail_url`` it comes from the article page, for servers that render it. Section
    pages are read for links on the hosts of the start pages, and yield no items.

    Arguments (``-a name=value``):

    - ``start_url``: section pages, RSS feeds or articles, separated by commas or spaces. Default: the RSS feed of
      the locale, ``https://rss.msn.com/{locale}``.
    - ``locale``: such as ``en-us`` (the default). A locale in the path of an article takes precedence.
    - ``max_pages``: exactly so many articles become items, unless there are fewer (0 or absent: no limit). With
      JOBDIR it applies to the whole job and should stay the same in all its runs.
    - ``detail_url``: where the JSON is, with ``{id}`` and, if needed, ``{locale}``; empty for HTML mode.
    """

    name = "msn_news"
    stats_prefix = "denoise/msn"

    def __init__(
        self,
        start_url: str | None = None,
        locale: str | None = "en-us",
        max_pages: str | int | None = None,
        detail_url: str | None = DETAIL_URL,
        **others: Any,
    ) -> None:
        reject_unknown(others, _ARGUMENTS)
        self.locale = (locale or "en-us").strip().lower()
        if not is_locale(self.locale):
            raise BadArgumentError(f"locale={locale!r} is not a locale; write one like locale=en-us")
        self.detail_url = read_detail_url(detail_url)
        urls = read_urls("start_url", start_url) or [f"https://rss.msn.com/{self.locale}"]
        super().__init__([scope_of(url) for url in urls], read_count("max_pages", max_pages))
        self.start_urls = urls
        if self.detail_url:
            # Its responses come from there, and may redirect only within that host.
            self.allowed_domains.append(str(urlsplit(self.detail_url).hostname))
        self.extractor = link_extractor()

    def given_urls(self) -> list[str]:
        """Return the start URLs and the URL of the JSON."""
        return [*self.start_urls, *filter(None, [self.detail_url])]

    def start_request(self, url: str) -> Request:
        """Return the request for a start page; in detail mode an article is requested as JSON."""
        if self.detail_url and article_id(url):
            return self.article_request(url, start=True)
        return super().start_request(url)

    def article_request(self, url: str, *, start: bool = False) -> Request:
        """Return the request for an article; in detail mode two URLs with one id have the same."""
        if not self.detail_url:
            return Request(url, self.parse, errback=self.failed, priority=_ARTICLE_PRIORITY)
        detail, arguments = detail_url_of(self.detail_url, url, self.locale), {"article": url, "start": start}
        return Request(
            detail, self.parse_detail, errback=self.failed, cb_kwargs=arguments, priority=_ARTICLE_PRIORITY
        )

    def parse(self, response: Response, start: bool = False, **kwargs: Any) -> list[Any]:  # noqa: ARG002
        """Read a page: an article becomes an item in HTML mode; every page gives links."""
        if not self.is_usable(response, start=start):
            return []
        if not isinstance(response, TextResponse):
            self.count("not_html")
            if start:
                self._log_no_links(response)
            return []
        results: list[Any] = self._requests(response)
        if self.detail_url and article_id(response.url):
            # A short or old URL redirected here; the text is elsewhere.
            results.append(self.article_request(response.url))
        if not self.detail_url and isinstance(response, HtmlResponse):
            if is_shell(response):
                self._warn_shell(response)
            elif article_id(response.url):
                self.count_page()
                return [NewsPage(url=response.url, fetched_at=now_utc(), source="html"), *results]
        if start and not results:
            self._log_no_links(response)
        return results

    def _requests(self, response: TextResponse) -> list[Request]:
        """Return the requests for the links of a page or feed."""
        if is_feed(response):
            urls = feed_links(response)
        else:
            urls = page_links(response, self.extractor) if isinstance(response, HtmlResponse) else []
        # A feed on rss.msn.com links to www.msn.com; in detail mode those links are only read, never fetched.
        article_sites = [*self.sites, "msn.com"] if self.detail_url else self.sites
        articles = [url for url in urls if article_id(url) and is_on_site(url, article_sites)]
        sections = [url for url in urls if not article_id(url) and is_on_site(url, self.sites)]
        return [
            *map(self.article_request, articles),
            *(Request(url, self.parse, errback=self.failed) for url in sections),
        ]

    def parse_detail(self, response: Response, article: str, start: bool = False) -> list[Any]:
        """Make an item of the JSON of an article."""
        locale = locale_of(article, self.locale)
        try:
            if response.status != 200:
                raise ValueError(f"HTTP {response.status}")
            page, text = read_detail(response.body, article, locale)
        except ValueError as error:
            return self._skip_article("malformed", response.url, str(error), start=start)
        if not text:
            return self._skip_article("no_text", article, "it has no text, as most videos", start=start)
        self.count_page()
        response.meta["denoise_page"] = {"url": article, "html": text, "site": page.site}
        return [page]

    def _skip_article(self, counted: str, url: str, reason: str, *, start: bool) -> list[Any]:
        self.count(counted)
        if start:
            self.log_error("no article from %s, which was asked for: %s", url, reason)
        else:
            self.logger.warning("no article from %s: %s", url, reason)
        return []

    def count_failure(self, kind: str) -> None:
        """Count a failure; articles taken down (404, 410) also as ``gone``."""
        super().count_failure(kind)
        if kind in ("http_404", "http_410"):
            self.count("gone")

    def is_hopeless(self) -> bool:
        """Return True if no article can come any more, because its host or every host was given up."""
        if self.detail_url and host_of(self.detail_url) in self.hosts_given_up:
            return True
        return super().is_hopeless()

    def _warn_shell(self, response: Response) -> None:
        self.count("shell")
        self.logger.warning(
            "%s is an empty shell that a browser fills; no item. Take the text from MSN's detail interface: "
            "leave detail_url away, or give one with {locale} and {id}",
            response.url,
        )

    def _log_no_links(self, response: Response) -> None:
        self.log_error(
            "no link to an article or a section on the start page %s: give an RSS feed, a page with links in "
            "its HTML, or articles (addresses that end in /ar-ID). MSN's own pages are filled by a browser",
            response.url,
        )


def read_detail_url(text: str | None) -> str:
    """Return the URL template of the JSON, an empty string for HTML mode.

    Raises:
        BadArgumentError: The template is unusable.
    """
    template = (text or "").strip()
    if not template:
        return ""
    if "{id}" not in template:
        raise BadArgumentError(f"detail_url={text!r} does not contain {{id}}; write one like {DETAIL_URL}")
    url = read_urls("detail_url", template)[0]
    if "{" in urlsplit(url).netloc:  # a page could then choose the host of the request
        what = f"detail_url={text!r} has {{id}} or {{locale}} in its host"
        raise BadArgumentError(f"{what}; only its path may hold them")
    return url
