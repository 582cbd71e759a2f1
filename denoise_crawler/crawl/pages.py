"""The page that an item came from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse, Response

from denoise_crawler.page import MAX_CHARACTERS, Page
from denoise_crawler.parsing import has_endless_tag, is_utf8, parse

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
    An HTML response is not parsed again: the tree that the spider's selectors work on is read. What Scrapy cannot
    read, for its charset or its base address, is read by us.
    """
    if has_given_page(response):
        given = response.meta[META_KEY]
        return Page.parse(given["url"], given["html"], site=given.get("site") or site_of(given["url"]))
    if not isinstance(response, HtmlResponse):
        return None
    site, text = site_of(response.url), _text(response)
    if text is None:
        return Page.parse(response.url, response.body, site=site)
    return Page.sharing(response.url, text, partial(_tree, response), site=site)


def _text(response: HtmlResponse) -> str | None:
    """Return the text that the tree of Scrapy's selectors is made of, None where that tree is not to be read."""
    body = response.body
    if len(body) > MAX_CHARACTERS or not body.strip() or has_endless_tag(body):
        return None
    try:
        misread = response.encoding.lower() not in ("utf-8", "utf8") and is_utf8(body)
        return None if misread else response.text
    except Exception:  # a charset that is a codec of Python and no text
        return None


def _tree(response: HtmlResponse) -> Any:
    try:
        return response.selector.root
    except Exception:  # a base address that cannot be joined
        return parse(response.body)
