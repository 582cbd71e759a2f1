"""The page that an item came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse, Response

from denoise_crawler.page import MAX_CHARACTERS, Page
from denoise_crawler.parsing import has_endless_tag, is_utf8

if TYPE_CHECKING:
    from collections.abc import Callable

META_KEY = "denoise_page"
OPT_OUT_KEY = "denoise"


def is_opted_out(response: Response) -> bool:
    """Tell whether the request of ``response`` says ``meta={"denoise": False}``."""
    return response.request is not None and response.meta.get(OPT_OUT_KEY) is False


def has_given_page(response: Response) -> bool:
    """Tell whether the spider named another page than the body of ``response``."""
    return response.request is not None and bool(response.meta.get(META_KEY))


def page_of_response(response: Response, site_of: Callable[[str], str]) -> Page | None:
    """Return the page of ``response``, None if there is none (JSON, images, …).

    A spider that finds a page inside something else, as in a JSON field, puts it into
    ``response.meta["denoise_page"]`` as ``{"url": …, "html": …, "site": …}`` (``site`` may be left out).
    An HTML response is not parsed again: the tree that the spider's selectors work on is read.
    """
    if has_given_page(response):
        given = response.meta[META_KEY]
        return Page.parse(given["url"], given["html"], site=given.get("site") or site_of(given["url"]))
    if not isinstance(response, HtmlResponse):
        return None
    site = site_of(response.url)
    misread = response.encoding.lower() not in ("utf-8", "utf8") and is_utf8(response.body)
    unfit = not response.body.strip() or len(response.body) > MAX_CHARACTERS or has_endless_tag(response.body)
    if misread or unfit:
        return Page.parse(response.url, response.body, site=site)
    try:
        root: Any = response.selector.root
    except ValueError:  # a base address that cannot be joined
        return Page.parse(response.url, response.body, site=site)
    return Page(response.url, root, site=site, source=response.text)
