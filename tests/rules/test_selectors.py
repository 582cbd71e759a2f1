"""Selectors in CSS and XPath, and the selector that matches one element alone."""

import contextlib
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import denoise_pages
from denoise_crawler.errors import SelectorError
from denoise_crawler.page import TEXT, Page
from denoise_crawler.rules import SiteRules, applying
from denoise_crawler.rules.selectors import compile_selector, find, find_nodes, selector_of
from tests.strategies import html_pages

BASE = "https://news.example"
BOX = (
    "<div class='a b{n}' id=i{n}><h2>H{n}</h2><p>x{n} <b>bold</b> tail<span class=c>s</span></p><ul><li>1"
    "<li class=d>2<li>3</ul><div class=b><p>in<p>in2</div></div>rest"
)
PAGE = Page.parse("https://a.example/", "<title>T</title>" + "".join(BOX.format(n=n) for n in range(12)))
AS_CSS = {
    ".a .b p": "//*[@class='b']/p",
    "h2 + p": "//h2/following-sibling::*[1][self::p]",
    "h2 + p + ul > li + .d": "//li[@class='d']",
    "h2 ~ div": "//div[@class='b']",
    "li:nth-child(2)": "//li[@class='d']",
    "div:has(b) li:last-child": "//li[3]",
}


def test_a_selector_is_xpath_or_css_by_how_it_begins() -> None:
    page = Page.parse("", "<div class=story id=one><p>One.</p></div><p>Two.</p>")
    same = [
        "div.story > p",
        ".story p",
        "//div[@class='story']/p",
        "(//p)[1]",
        "id('x') | //div/p",
        "id('one')/p",
        "p:first-child",
    ]
    assert [find_nodes(page, selector) for selector in same] == [[2]] * len(same)
    assert find_nodes(page, "p::text") == []
    assert find_nodes(Page.parse("", ""), "p") == []


@pytest.mark.parametrize("selector", AS_CSS)
def test_css_matches_what_the_xpath_beside_it_matches(selector: str) -> None:
    matches = find(PAGE, selector)
    assert matches
    assert matches == find(PAGE, AS_CSS[selector])


def test_a_union_is_in_document_order() -> None:
    tags = [match.tag for match in find(PAGE, "//li | //h2") if not isinstance(match, str)]
    assert tags == ["h2", "li", "li", "li"] * 12


@given(st.text(max_size=30))
def test_any_text_is_a_selector_or_a_selector_error(text: str) -> None:
    with contextlib.suppress(SelectorError):
        compile_selector(text)


def test_a_rule_that_takes_long_on_a_page_is_applied_and_named_once_with_its_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(applying, "SLOW_SECONDS", -1.0)
    rules = SiteRules(texts={"news.example": "strip: .slow-one"})
    pages = [(f"{BASE}/{number}", "<p>One story.<p class=slow-one>An ad.") for number in range(2)]
    with caplog.at_level(logging.WARNING):
        assert [page.text for page in denoise_pages(pages, rules=rules)] == ["One story."] * 2
    (record,) = caplog.records
    assert record.message == f"news.example.txt, line 1: strip: .slow-one takes long: 0.0 s on {BASE}/0"


@given(html_pages())
def test_the_selector_of_an_element_matches_it_alone(html: str) -> None:
    page = Page.parse(BASE, html)
    for node, tag in enumerate(page.nodes.tags):
        if tag != TEXT and (selector := selector_of(page, node)):
            assert find_nodes(page, selector) == [node]


def test_every_element_of_a_plain_page_has_a_selector() -> None:
    assert all(selector_of(PAGE, node) for node, tag in enumerate(PAGE.nodes.tags) if tag != TEXT)


def test_an_element_whose_names_need_an_escape_has_no_selector_of_its_own() -> None:
    page = Page.parse("", "<div class='md:w-1/2' id=1a><p>One.</p><v:box><p>Two.</p></v:box></div>")
    selectors = {tag: selector_of(page, node) for node, tag in enumerate(page.nodes.tags) if tag != TEXT}
    assert selectors["div"] == "body > div:nth-of-type(1)"
    assert selectors["v:box"] == ""
