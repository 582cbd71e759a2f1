from __future__ import annotations

import pytest
from hypothesis import given

from denoise_crawler.methods.fusion.kinds import KINDS, KindWords, kind_words_of
from denoise_crawler.page import Page
from tests.strategies import html_pages


def words(html: str, url: str = "https://a.example/") -> frozenset[str]:
    page = Page.parse(url, html)
    return kind_words_of(page)


def test_words_come_from_names_the_address_what_is_declared_and_linked_data() -> None:
    html = """<meta property=og:type content="Product.Item"><meta name=generator content="phpBB 3">
    <script type="application/ld+json">{"@type": "DiscussionForumPosting", "a": {"@type": ["Person"]}}</script>
    <div class=postBody id=t1><p>Words</p></div>"""
    found = words(html, "https://a.example/forum/viewtopic.php?thread=1")
    assert {"post", "body", "/forum", "/viewtopic", "/thread", "@DiscussionForumPosting", "@Person"} <= found
    assert {"og:type=product", "og:type=item", "generator=phpbb"} <= found


def test_the_strongest_words_of_each_kind_are_summed_and_words_not_known_say_nothing() -> None:
    odds = {"thread": [-1.0, 3.0, 0, 0, 0, 0, 0], "post": [0.5, 1.0, 0, 0, 0, 0, 0]}
    says = dict(zip(KINDS, KindWords(odds).says(["thread", "post", "other"]), strict=True))
    assert says["forum"] == pytest.approx(0.4)
    assert says["article"] == pytest.approx(-0.05)
    assert not KindWords(odds).says(["other"]).any()
    assert not KindWords({}).says(["other"]).any()


@given(html=html_pages())
def test_the_words_of_any_page_are_found(html: str) -> None:
    assert all(isinstance(word, str) for word in words(html, "http://[a/b"))
