"""The page that an item came from: the body of its response, or what the spider named instead."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse, Response

from denoise_crawler.errors import GivenPageError
from denoise_crawler.page import MAX_HTML_BYTES, Page
from denoise_crawler.page.parsing import has_endless_tag, is_utf8, parse

if TYPE_CHECKING:
    from collections.abc import Callable

META_KEY = "denoise_page"
OPT_OUT_KEY = "denoise"


def is_opted_out(response: Response) -> bool:
    """Tell whether the request of ``response`` says ``meta={"denoise": False}``."""
    return response.request is not None and response.meta.get(OPT_OUT_KEY) is False


def given_page(response: Response) -> Any:
    """Return the page that the spider named instead of the body of ``response``, None if it named none."""
    return (response.meta.get(META_KEY) or None) if response.request is not None else None


def page_of_response(response: Response, site_of: Callable[[str], str]) -> Page | None:
    """Return the page of a response.

    If the items of a spider belong to another page, the spider puts that page into
    ``response.meta["denoise_page"]``: a response, or, for HTML inside something else such as JSON, a dict
    ``{"url": …, "html": …, "site": …}``. ``site`` may be left out. An HTML response is not parsed again: we read
    the tree of the spider's selectors. If Scrapy cannot read the page because of its charset or base URL, we parse
    it.

    Args:
        response: The response.
        site_of: Returns the site of a URL.

    Returns:
        The page, None if there is none (JSON, images, …).

    Raises:
        GivenPageError: The spider named something that is no page.
    """
    given = given_page(response)
    if given is None:
        return _parse_body(response, site_of)
    return _parse_body(given, site_of) if isinstance(given, Response) else _parse_dict(given, site_of)


def _parse_dict(given: Any, site_of: Callable[[str], str]) -> Page:
    try:
        url, html, site = given["url"], given["html"], given.get("site")
    except (AttributeError, LookupError, TypeError):
        url = html = site = None
    if not (isinstance(url, str) and isinstance(html, str | bytes) and isinstance(site, str | None)):
        raise GivenPageError(
            f"meta[{META_KEY!r}] is no page, but {given!r:.100}: set it to a response, or to a dict with the "
            "address in 'url' and the HTML in 'html'"
        )
    return Page.parse(url, html, site=site or site_of(url))


def _parse_body(response: Response, site_of: Callable[[str], str]) -> Page | None:
    if not isinstance(response, HtmlResponse):
        return None
    site, text = site_of(response.url), _readable_text(response)
    if text is None:
        return Page.parse(response.url, response.body, site=site)
    return Page.sharing(response.url, text, partial(_selector_root, response), site=site)


def _readable_text(response: HtmlResponse) -> str | None:
    """Return the text from which Scrapy's selectors make their tree; None if we must not read that tree."""
    body = response.body
    if len(body) > MAX_HTML_BYTES or not body.strip() or has_endless_tag(body):
        return None
    try:
        misread = response.encoding.lower() not in ("utf-8", "utf8") and is_utf8(body)
        return None if misread else response.text
    except Exception:  # a "charset" that is a Python codec for something other than text
        return None


def _selector_root(response: HtmlResponse) -> Any:
    try:
        return response.selector.root
    except Exception:  # an invalid base URL
        return parse(response.body)
