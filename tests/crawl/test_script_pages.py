"""Which pages need a browser: those with a script and hardly any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse

from denoise_crawler.crawl.middleware import needs_script
from denoise_crawler.page.script_pages import MIN_CHARACTERS


def response(html: str) -> HtmlResponse:
    return HtmlResponse("https://example.com/", body=html.encode(), encoding="utf-8")


@given(st.lists(st.text("abc é中", min_size=1, max_size=60), max_size=12), st.booleans())
def test_a_page_needs_script_if_it_has_one_and_next_to_no_text(texts: list[str], script: bool) -> None:
    html = "".join(f"<p>{text}" for text in texts) + (
        "<script>render('" + "x" * 500 + "')</script>" if script else ""
    )
    characters = sum(len(text.strip()) for text in texts)
    assert needs_script(response(f"<body>{html}</body>")) == (script and characters < MIN_CHARACTERS)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", False),
        ("<script>", True),
        ("<frameset><script></script></frameset>", True),
        (f"<noscript>{'words ' * 60}</noscript><script></script>", False),
        (f"<!-- {'words ' * 60} --><script></script>", True),
        (f"<style>{'words ' * 60}</style><script></script>", True),
        (f"<base href='http://['><script></script>{'words ' * 60}", False),
    ],
)
def test_comments_and_styles_are_no_text_but_noscript_is(html: str, expected: bool) -> None:
    assert needs_script(response(html)) == expected
