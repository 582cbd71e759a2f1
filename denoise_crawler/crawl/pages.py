"""The page that an item came from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse, Response

from denoise_crawler.errors import GivenPageError
from denoise_crawler.page import MAX_CHARACTERS, Page
from denoise_crawler.page.parsing import has_endless_tag, is_utf8, parse

if TYPE_CHECKING:
    from collections.abc import Callable

META_KEY = "denoise_page"
OPT_OUT_KEY = "denoise"


def is_opted_out(response: Response) -> bool:
    """Tell whether the request of ``response`` says ``meta={"denoise": False}``."""
    return response.request is not None and response.meta.get(OPT_OUT_KEY) is False


def given_page(response: Response) -> Any:
    """Return the page that the spider named in place of the body of ``response``, None without one."""
    return (response.meta.get(META_KEY) or None) if response.request is not None else None


def page_of_response(response: Response, site_of: Callable[[str], str]) -> Page | None:
    """Return the page of ``response``, None if there is none (JSON, images, …).

    A spider whose items belong to another page puts that into ``response.meta["denoise_page"]``: a response, or,
    for a page inside something else, as in a JSON field, ``{"url": …, "html": …, "site": …}``, where ``site`` may
    be left out. An HTML response is not parsed again: the tree that the spider's selectors work on is read. What
    Scrapy cannot read, for its charset or its base address, is read by us.

    Raises:
        GivenPageError: what the spider put there is neither.
    """
    given = given_page(response)
    if given is None:
        return _page_of_body(response, site_of)
    return _page_of_body(given, site_of) if isinstance(given, Response) else _page_of_dict(given, site_of)


def _page_of_dict(given: Any, site_of: Callable[[str], str]) -> Page:
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


def _page_of_body(response: Response, site_of: Callable[[str], str]) -> Page | None:
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
