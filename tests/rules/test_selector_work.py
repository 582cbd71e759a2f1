"""The work of a selector is bounded: what could take hours is refused, what is left finds what XPath finds."""

from __future__ import annotations

import pytest
from lxml import etree

from denoise_crawler.errors import SelectorError
from denoise_crawler.page import Page
from denoise_crawler.rules.finding import MOST_WORK
from denoise_crawler.rules.folder import parse_site_file
from denoise_crawler.rules.selectors import compile_selector, find

BOX = (
    "<div class='a b{n}' id=i{n}><h2>H{n}</h2><p>x{n} <b>bold</b> tail<span class=c>s</span></p><ul><li>1"
    "<li class=d>2<li>3</ul><div class=b><p>in<p>in2</div></div>rest"
)
PAGE = Page.parse(
    "https://a.example/", "<title>T</title><meta name=a content=b>" + "".join(BOX.format(n=n) for n in range(12))
)
AS_XPATH = [
    *(
        "//div//p",
        "//div[1]//p[1]",
        "(//p)[1]",
        "//div//p//b",
        "//p/ancestor::div",
        "//p/..",
        "//b/../..",
        "//li//..",
    ),
    *("//li/following::p", "//li/preceding::p", "//h2/following-sibling::*[1]", "//p/preceding-sibling::*"),
    *("//div/@class", "//div//text()", "//p/text()[1]", "//text()[contains(.,'in2')]/..", "//li/../li[1]"),
    *("//*[@id='i3']/descendant-or-self::*[2]", "//p[2]/following-sibling::p | //h2", "//div/descendant::p[1]"),
    *("//div[descendant::b]//li[position()=2]", "//div[@class='b']/p[last()]", "id('i3')/p", "/html/body/div/p"),
    *("//b/ancestor-or-self::*[@class][1]", "//title", "//meta/@content", "//p/following::li[3]", "//div[p]/*"),
    *(
        "concat(//h2,'-')",
        "substring-after(//h2,'H')",
        "//div/@id/parent::div/p",
        "//h2 | //li | //p//b",
        "count(//p)",
    ),
]
AS_CSS = {
    ".a .b p": "//*[@class='b']/p",
    "h2 + p": "//h2/following-sibling::*[1][self::p]",
    "h2 + p + ul > li + .d": "//li[@class='d']",
    "h2 ~ div": "//div[@class='b']",
    "li:nth-child(2)": "//li[@class='d']",
    "div:has(b) li:last-child": "//li[3]",
}
NESTED = [
    "//*[count(//*[count(//*)>0])>0]/x",
    "//a[descendant::b[following::c]]",
    "//a[.//b[ancestor::c]]",
    "//a[preceding::b[c[//d]]]",
]


@pytest.mark.parametrize("selector", AS_XPATH)
def test_a_selector_finds_step_by_step_what_it_finds_at_once(selector: str) -> None:
    at_once = etree.XPath(selector)(PAGE.root)
    expected = at_once if isinstance(at_once, list) else [at_once] if isinstance(at_once, str) else []
    assert find(PAGE, selector) == expected


@pytest.mark.parametrize("selector", AS_CSS)
def test_css_finds_what_the_xpath_beside_it_finds(selector: str) -> None:
    found = find(PAGE, selector)
    assert found
    assert found == etree.XPath(AS_CSS[selector])(PAGE.root)


@pytest.mark.parametrize("selector", NESTED)
def test_an_axis_of_unbounded_reach_in_a_predicate_in_such_a_predicate_is_refused(selector: str) -> None:
    found = parse_site_file(f"keep: b\nstrip: {selector}", "a.example.txt")
    assert [rule.value for rule in found.rules] == ["b"]
    (problem,) = found.problems
    assert problem.startswith(f"a.example.txt, line 2: strip: {selector!r} may take hours on a page: ")


def test_a_has_in_a_has_is_refused() -> None:
    with pytest.raises(SelectorError):
        compile_selector("div:has(p:has(a))")


@pytest.mark.parametrize(
    "selector",
    [
        *("//*[following::x]", "//*[count(//*)>3]", "p:nth-child(2)", "//p[. = //p]", "(//*//*)[1]"),
        *("//*/following-sibling::*[position()>3]", "//text()/..", "//text()/../..", "//p/preceding::*"),
        " | ".join(["//p", "//*", "//text()"] * 40),
        *("/html/body" + "/*/.." * 40, "//*/following::x[1]", "//p/preceding::title[1]"),
    ],
)
def test_what_is_too_much_work_is_refused_on_a_large_page_and_found_on_a_small_one(selector: str) -> None:
    large, small = (Page.parse("https://a.example/", "<body>" + "<p>w" * number) for number in (39_000, 300))
    with pytest.raises(SelectorError, match="takes too much work on this page"):
        find(large, selector)
    assert find(small, selector) == etree.XPath(compile_selector(selector).path)(small.root)
    assert MOST_WORK == 800_000_000
