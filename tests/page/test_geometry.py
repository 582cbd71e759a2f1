from __future__ import annotations

import pytest
from lxml import etree

from denoise_crawler.methods import MethodChoice
from denoise_crawler.page import Page
from denoise_crawler.page.geometry import Box, Length, declared_length, drawn_boxes, parse_length


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("600", Length(600)),
        (" 600px ", Length(600)),
        ("98%", Length(98, percent=True)),
        ("98.5 %", Length(98.5, percent=True)),
        ("40em", Length(640)),
        ("72pt", Length(96)),
        (".5in", Length(48)),
        ("-3px", Length(-3)),
        ("auto", None),
        ("*", None),
        ("3parsec", None),
        ("", None),
        (None, None),
    ],
)
def test_a_length_is_in_pixels_or_percent_or_unknown(text: str | None, expected: Length | None) -> None:
    assert parse_length(text) == expected


def test_an_inline_style_counts_before_the_attribute_and_its_last_readable_word_wins() -> None:
    style = "max-width:1px; WIDTH: 60%; width:auto"
    element = etree.Element("td", width="50", height="9", style=style)
    assert declared_length(element, "width") == Length(60, percent=True)
    assert declared_length(element, "height") == Length(9)
    assert declared_length(element, "left") is None


def test_boxes_come_from_the_mapping_and_else_from_the_attribute() -> None:
    html = """<body><p data-box="1 2 30 40">a</p><p data-box="5,6,7,8">b</p><p data-box="1 2 3">c</p>
    <p data-box="1 2 -3 4">d</p><p data-box="x y z w">e</p></body>"""
    boxes = {"/html/body/p[2]": (0, 0, 10, 10), "/html/body/p[9]": (0, 0, 1, 1), "p[[": (0, 0, 1, 1), "1+1": (0,)}
    page = Page.parse("https://example.com/", html, boxes=boxes)
    drawn = [box for box, tag in zip(drawn_boxes(page), page.nodes.tags, strict=True) if tag == "p"]
    assert drawn == [Box(1, 2, 30, 40), Box(0, 0, 10, 10), None, None, None]


@pytest.mark.parametrize("box", ["0 0 1e154 1e154", "0 0 inf 1", "nan 0 1 1", "-1e300 0 1 1"])
def test_a_box_that_no_browser_draws_is_no_box_and_no_area_overflows(box: str) -> None:
    html = "".join(f'<p data-box="{box}">Paragraph {number} of the page</p>' for number in range(4))
    page, other = (Page.parse(f"https://example.com/{one}", f"<body>{html}{one}</body>") for one in (1, 2))
    assert drawn_boxes(page) == [None] * len(page.nodes)
    method = MethodChoice("feature_tree").new()
    method.observe(other)
    assert len(method.judge(page).noise) == len(page.nodes)


def test_boxes_overlap_by_what_both_cover() -> None:
    assert Box(0, 0, 10, 10).overlap(Box(5, 8, 10, 10)) == 10
    assert Box(0, 0, 10, 10).overlap(Box(10, 0, 10, 10)) == 0
    assert Box(0, 0, 10, 4).area == 40
