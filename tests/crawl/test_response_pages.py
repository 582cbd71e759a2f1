import pytest
from scrapy.http import HtmlResponse, JsonResponse, Request

from denoise_crawler.crawl.source_page import page_of_response
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import MAX_ELEMENTS, Page
from denoise_crawler.page.site import site_of

URL = "https://example.com/1"
NO_CHARSETS = ("idna", "punycode", "undefined", "rot13", "base64", "hex", "zlib", "bz2_codec", "uu", "quopri")


def page_of(response: HtmlResponse) -> Page:
    page = page_of_response(response, site_of)
    assert page is not None
    return page


def test_the_tree_of_the_spiders_selectors_is_read_and_no_other() -> None:
    response = HtmlResponse(URL, body="<p>café".encode(), encoding="utf-8")
    page = page_of(response)
    assert page.root is response.selector.root
    assert (page.markup, clean_text(page)) == ("<p>café", "café")


@pytest.mark.parametrize("charset", NO_CHARSETS)
@pytest.mark.parametrize("said_by", ["header", "page"])
def test_a_charset_that_is_a_codec_but_no_text_costs_no_page(charset: str, said_by: str) -> None:
    headers = {"Content-Type": f"text/html; charset={charset}"} if said_by == "header" else {}
    body = f"<meta charset={charset if said_by == 'page' else 'latin-1'}><p>café".encode("latin-1")
    page = page_of(HtmlResponse(URL, headers=headers, body=body))
    assert page.skipped is None
    assert clean_text(page).startswith("caf")


def test_a_base_address_that_cannot_be_joined_costs_no_page() -> None:
    assert clean_text(page_of(HtmlResponse(URL, body=b"<base href='http://[bad'><p>words"))) == "words"


@pytest.mark.parametrize(
    "body", [b"<br>" * (MAX_ELEMENTS + 1), b"<p>" + b" " * 8_000_000, b"<p a b c d>" * 25_001]
)
def test_a_page_that_is_too_large_is_parsed_by_nobody_for_our_sake(body: bytes) -> None:
    response = HtmlResponse(URL, body=body, encoding="utf-8")
    page = page_of(response)
    assert (page.skipped, page.root) == ("too_large", None)
    assert response._cached_selector is None


def test_what_is_no_html_has_no_page_unless_the_spider_says_where_one_is() -> None:
    response = JsonResponse(URL, body=b'{"html": "<p>words"}', request=Request(URL))
    assert page_of_response(response, site_of) is None
    response.meta["denoise_page"] = {"url": URL, "html": "<p>words"}
    assert clean_text(page_of(response)) == "words"  # type: ignore[arg-type]
