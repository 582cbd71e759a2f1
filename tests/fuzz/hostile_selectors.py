"""What hostile selectors of rules cost on hostile pages: CPU seconds, and how many are refused there."""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

from denoise_crawler.errors import SelectorError
from denoise_crawler.page import Page
from denoise_crawler.rules.selectors import find
from tests.fuzz.hostile import HOSTILE

MOST_SELECTOR_SECONDS = 1.0
PAGES = (
    *("every limit at once", "paragraphs of a letter", "links, all different", "cells of a table"),
    *("levels with classes of their own", "1,900 levels, text in each", "misnested formatting"),
)
SELECTORS = (
    # an axis of unbounded reach, after another one
    *("//*", "//*//*", "(//*//*)[1]", "//*//*//*", "//p//text()", "//text()/../..", "//*/ancestor::*", "//*/.."),
    *("//*/following::*", "//p/preceding::*", "//*/following::p[1]", "//*/following-sibling::*[position()>3]"),
    *("//*/preceding-sibling::*[1]", "//*/descendant::*[last()]", "//*/ancestor-or-self::*[@class][1]"),
    # in a predicate
    *("//*[following::x]", "//*[.//p]", "//*[count(//*)>3]", "//p[. = //p]", "//*[count(preceding::*) > 9]"),
    *("//*[not(ancestor::x)]", "//p[position() mod 2 = 1]", "//*[count(//*[count(//*)>0])>0]/x"),
    # the text of many
    *("//*[contains(., 'zzz')]", "//*[normalize-space(.) = 'x']", "//*[translate(., 'abc', 'xyz') = 'x']"),
    *("//*[string-length(.) > 9]", "concat(//p, '-', //*)", "//*[starts-with(@class, 'a')]/@class"),
    # unions, and what CSS becomes
    *(" | ".join(["//p", "//*", "//text()"] * 40), "*", "* *", "* * *", "p ~ p", "p + p + p", "p:nth-child(2)"),
    "div:has(p) p",
)


class SelectorCosts(NamedTuple):
    """Of one page: how many selectors were taken and how many refused, and the dearest, with its CPU seconds."""

    page: str
    taken: int
    refused: int
    dearest: str
    seconds: float


def selector_costs(name: str) -> SelectorCosts:
    """Find what each selector finds in a page, one after the other."""
    made = HOSTILE[name]()
    page = Page.parse("https://hostile.example/1", made if isinstance(made, (str, bytes)) else made[0])
    assert page.nodes
    seconds, refused = dict[str, float](), 0
    for selector in SELECTORS:
        start = process_time()
        try:
            find(page, selector)
        except SelectorError:
            refused += 1
        seconds[selector] = process_time() - start
    dearest = max(seconds, key=seconds.__getitem__)
    return SelectorCosts(name, len(SELECTORS) - refused, refused, dearest[:40], seconds[dearest])
