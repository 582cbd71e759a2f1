"""The title, author and date that the rules of a site find on a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from denoise_crawler.errors import SelectorError
from denoise_crawler.page.dates import iso_date
from denoise_crawler.page.text import collapse_spaces, without_controls, without_lone_surrogates
from denoise_crawler.rules.selectors import find, name_once
from denoise_crawler.rules.site_file import AUTHOR, DATE, TITLE, VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.page import Element, Page
    from denoise_crawler.rules.site_file import Rule, SiteFile

MAX_VALUE_CHARACTERS = 500
_MAX_AUTHORS = 20
_BY = re.compile(r"\Aby\s+", re.IGNORECASE)


def values_of(page: Page, file: SiteFile) -> dict[str, str]:
    """Return what the rules of a file find of ``title``, ``author`` and ``date`` (ISO 8601).

    Of several rules for the same value, the first that finds one is obeyed.

    Args:
        page: The page.
        file: The rules of its host.

    Example:
        >>> from denoise_crawler import Page
        >>> from denoise_crawler.rules.site_file import parse_site_file
        >>> page = Page.parse("", "<h1>Storm</h1><time datetime=2024-05-01>yesterday</time>")
        >>> values_of(page, parse_site_file("title: h1" + chr(10) + "date: time"))
        {'title': 'Storm', 'date': '2024-05-01'}

    """
    found = dict[str, str]()
    for name in VALUES:
        for rule in file.of(name):
            if value := _READERS[name](list(_texts(page, rule))):
                found[name] = value
                break
    return found


def _texts(page: Page, rule: Rule) -> Iterator[str]:
    try:
        found = find(page, rule.selector)
    except SelectorError as error:
        name_once(rule, error)
        return
    for one in found:
        text = one if isinstance(one, str) else _value_of(one, rule.directive)
        if text := without_controls(collapse_spaces(without_lone_surrogates(text))):
            yield text


def _value_of(element: Element, directive: str) -> str:
    said = element.get("content") or (element.get("datetime") if directive == DATE else None)
    return said or str(etree.tostring(element, method="text", encoding="unicode", with_tail=False))


def _first(texts: list[str]) -> str:
    return next((text for text in texts if len(text) <= MAX_VALUE_CHARACTERS), "")


def _names(texts: list[str]) -> str:
    short = [name for name in (_BY.sub("", text, count=1) for text in texts) if len(name) <= MAX_VALUE_CHARACTERS]
    return "; ".join(list(dict.fromkeys(short))[:_MAX_AUTHORS])


def _date(texts: list[str]) -> str:
    return next(filter(None, map(iso_date, texts)), "")


_READERS = {TITLE: _first, AUTHOR: _names, DATE: _date}
