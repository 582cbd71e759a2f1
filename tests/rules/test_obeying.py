"""Site rules are obeyed before any evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import denoise_pages
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.rules import SiteRules
from tests.strategies import html_pages

if TYPE_CHECKING:
    from denoise_crawler.output.clean_page import CleanPage

URL = "https://www.a.example/1"
STORY = "The ferry left the harbour before dawn, and half of the town was on it. " * 6
PAGE = f"""<title>Storm | A paper</title><body><nav><a href=/>Home</a></nav><h1>Storm</h1>
<div id=story><p>{STORY}<p class=ad>Buy two boats, pay one boat, today only in our shop at the quay.
<img src=/ads/boat.png><p>It came back late.<div class=related><p>More of it<p class=own>Own words</div></div>
<div class=comments><p>I was there, it was cold.</div>"""


def clean(rules: str, html: str = PAGE, method: str = "fusion", **options: object) -> CleanPage:
    found = denoise_pages(
        [(URL, html)],
        method=method,
        rules=SiteRules(texts={"a.example": rules}),
        writing=Writing(explain=True),
        **options,
    )
    return next(found)


def test_the_body_is_all_that_is_kept_with_the_title() -> None:
    text = clean("title: h1\nbody: #story").text
    assert text.splitlines() == [
        *("Storm", STORY.strip(), "Buy two boats, pay one boat, today only in our shop at the quay."),
        *("It came back late.", "More of it", "Own words"),
    ]


def test_the_title_is_left_out_where_the_text_is_to_be_without() -> None:
    assert clean("title: h1\nbody: #story, h1", title="leave").text.startswith("The ferry")


def test_the_closest_rule_decides_so_that_a_part_of_what_is_stripped_can_be_kept() -> None:
    text = clean("body: #story\nstrip: .related\nkeep: .own\nstrip_id_or_class: ad\nkeep: div.comments").text
    assert text.splitlines()[1:] == ["It came back late.", "Own words", "I was there, it was cold."]


def test_rules_of_this_run_come_before_those_of_the_file_inside_of_what_they_find() -> None:
    rules = SiteRules(texts={"a.example": "body: #story\nkeep: .own\nkeep: .related\nstrip: .ad"})
    rules.add_everywhere("strip", [".related"])
    rules.add_everywhere("keep", ["div.comments, .ad"])
    text = next(denoise_pages([(URL, PAGE)], rules=rules)).text
    assert text.splitlines()[1:] == [
        *("Buy two boats, pay one boat, today only in our shop at the quay.", "It came back late."),
        "I was there, it was cold.",
    ]


def test_the_first_body_rule_that_finds_anything_is_obeyed() -> None:
    text = clean("body: #article\nbody: div.comments, div#story\nbody: nav").text
    assert "cold" in text
    assert "ferry" in text
    assert "Home" not in text


def test_with_prune_yes_the_method_judges_inside_the_body() -> None:
    inside = clean("body: body\nprune: yes")
    assert inside.confidence is not None
    assert "Home" not in inside.text
    everything = clean("body: body\nprune: no")
    assert everything.confidence is None
    assert "Home" in everything.text


def test_pictures_go_by_their_address() -> None:
    found = denoise_pages(
        [(URL, PAGE)],
        rules=SiteRules(texts={"a.example": "body: #story\nstrip_image_src: /ads/"}),
        writing=Writing("markdown"),
    )
    assert "boat.png" not in next(found).text
    found = denoise_pages(
        [(URL, PAGE)], rules=SiteRules(texts={"a.example": "body: #story"}), writing=Writing("markdown")
    )
    assert "boat.png" in next(found).text


def test_rules_that_leave_next_to_nothing_are_passed_over_and_named() -> None:
    plain = next(denoise_pages([(URL, PAGE)], writing=Writing(explain=True)))
    page = clean("body: nav")
    assert page.text == plain.text
    assert page.explanation is not None
    assert all("a.example.txt is passed over" in block["reason"] for block in page.explanation)
    judged = Denoiser(rules=SiteRules(texts={"a.example": "strip: body"})).judge(Page.parse(URL, PAGE))
    assert (judged.passed_over, judged.obeyed) == ("a.example.txt", "")


def test_an_explanation_names_the_rule_with_its_file_and_line() -> None:
    blocks = clean("body: #story\n\nstrip: p.ad").explanation
    assert blocks is not None
    reasons = {block["text"][:8]: (block["kept"], block["reason"]) for block in blocks}
    assert reasons["Buy two "] == (False, "a.example.txt, line 3: strip: p.ad")
    assert reasons["The ferr"] == (True, "a.example.txt, line 1: body: #story")
    assert reasons["Home"] == (False, "a.example.txt, line 1: body: #story (outside of it)")


def test_title_author_and_date_come_from_the_first_rule_that_finds_one() -> None:
    html = (
        '<meta name=who content="Bo Li"><b class=by>By Ana Ruiz</b><i class=by>Tom Day</i><time>1 May 2024</time>'
    )
    page = clean(
        "title: .headline\ntitle: substring-before('Storm | Paper', ' |')\nauthor: .by\ndate: #no\ndate: time",
        html + PAGE,
    )
    assert (page.title, page.author, page.date) == ("Storm", "Ana Ruiz; Tom Day", "2024-05-01")
    assert clean("author: //meta[@name='who']/@content", html + PAGE).author == "Bo Li"
    assert clean("title: .headline\ndate: h1", PAGE).title == "Storm"


@pytest.mark.parametrize("method", ["style_tree", "link_ratio", "fusion"])
def test_every_method_obeys(method: str) -> None:
    assert "cold" in clean("keep: div.comments", method=method).text
    assert "ferry left" not in clean("strip: //p[contains(., 'ferry')]\nkeep: .comments, .ad", method=method).text


def test_pages_of_other_hosts_are_judged_as_ever() -> None:
    rules = SiteRules(texts={"b.example": "body: nav"})
    assert next(denoise_pages([(URL, PAGE)], rules=rules)) == next(denoise_pages([(URL, PAGE)]))


@given(
    html_pages(), st.sampled_from(["body: p", "strip: div", "keep: a, li", "title: //*", "body: //*\nstrip: //p"])
)
def test_what_is_below_noise_is_noise_whatever_page_and_rule(html: str, rules: str) -> None:
    page = Page.parse(URL, html)
    noise = Denoiser("link_ratio", rules=SiteRules(texts={"a.example": rules})).judge(page).noise
    assert len(noise) == len(page.nodes)
    assert all(noise[node] for node, parent in enumerate(page.nodes.parents) if node and noise[parent])
