from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.declared import body_columns, linked_data_of
from denoise_crawler.page import Page

STORY = [
    f"The {name} left the harbour at dawn and came back with nothing but weed in its nets." for name in "abcd"
]


def page(data: str, html: str = "") -> Page:
    return Page.parse(
        "https://a.example/1", f'<script type="application/ld+json">{data}</script>{html}<p>words</p>'
    )


def declared(body: str) -> str:
    return json.dumps({"@context": "https://schema.org", "@type": ["NewsArticle"], "articleBody": body})


def test_a_page_declares_types_and_the_text_of_its_article() -> None:
    found = linked_data_of(page(declared("<p>" + " &amp; ".join(STORY).replace("left", 'said "left"') + "</p>")))
    assert found.types == {"NewsArticle"}
    assert found.body.startswith("theasaidleftthe")


def test_json_that_is_cut_off_or_has_line_breaks_in_it_is_read_as_far_as_it_goes() -> None:
    assert linked_data_of(page(declared("\\n".join(STORY)) + ',"x": [{')).body
    assert linked_data_of(page(declared(" ".join(STORY)).replace("at dawn", "at\ndawn"))).body


@pytest.mark.parametrize("data", ["", "{", declared("A teaser."), declared(" ".join(STORY))[:90]])
def test_a_page_that_declares_no_whole_text_says_nothing(data: str) -> None:
    one = page(data)
    columns = body_columns(linked_data_of(one).body, blocks_of(one))
    assert columns["in body declared"].tolist() == [-1.0]


def test_blocks_are_told_whether_they_stand_in_the_declared_text_and_what_comes_after_it() -> None:
    html = "".join(
        f"<p>{text}</p>" for text in ["Menu", *STORY[:2], "Read also: weed prices", *STORY[2:], "Another story"]
    )
    one = page(declared("\n\n".join(STORY)), html)
    columns = body_columns(linked_data_of(one).body, blocks_of(one))
    assert columns["in body declared"].tolist() == [0, 1, 1, 0, 1, 1, 0, 0]
    assert columns["blocks to end declared"].tolist() == [-5, -4, -3, -2, -1, 0, 1, 2]


@given(data=st.text())
def test_no_linked_data_raises(data: str) -> None:
    one = page(data)
    assert all(
        np.isfinite(column).all() for column in body_columns(linked_data_of(one).body, blocks_of(one)).values()
    )
