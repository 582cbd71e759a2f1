from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.evaluation.gold import addressed, by_site, read_gold
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.fusion.decision import TOPICS, topic_of
from denoise_crawler.methods.fusion.weights import feature_names
from denoise_crawler.page import TEXT, Page
from tests.strategies import html_pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from denoise_crawler.methods import Judgement

STORIES = [
    "A ferry ran aground off the northern cape before dawn, and forty passengers were taken off by lifeboat.",
    "Voters rejected the harbour toll by a narrow margin, although the council had asked them to accept it.",
    "The museum bought back its stolen astrolabe, which had been missing from the great hall since the war.",
    "Rain delayed every train across the valley, and the bridge at the mill stayed closed until the evening.",
]
APPEAL = "Support our newsroom: a subscription costs less than a cup of coffee a week, and you may cancel it."
# what a reason for the other verdict would say
_FOR_KEEPING = ("in the page's main text", "most of it new", "no links", "usual for content", "none of ")
_FOR_DROPPING = ("blocks before", "blocks after", "the same text stands", "usual for noise", "inside nav")


def page(number: int, story: str, more: str = "") -> Page:
    links = "".join(f"<li><a href=/{place}>Place {place}</a></li>" for place in range(12))
    html = f"""<html><head><title>Story {number}</title></head><body><nav><ul>{links}</ul></nav>
    <article><h1>Story {number}</h1><p>{story}</p><p>{story[::-1]}</p>{more}<p class=appeal>{APPEAL}</p></article>
    <footer><p>All rights reserved</p><ul>{links}</ul></footer></body></html>"""
    return Page.parse(f"https://example.com/{number}", html)


def reasons(one: Page, judgement: Judgement) -> Iterator[tuple[str, bool, str]]:
    for index, tag in enumerate(one.nodes.tags):
        if tag is TEXT:
            yield one.nodes.texts[index].strip(), not judgement.noise[index], judgement.reason(index)


def judged(pages: list[Page]) -> Judgement:
    method = MethodChoice("fusion").new()
    for one in pages:
        method.observe(one)
    return method.judge(pages[0])


@pytest.mark.parametrize("name", feature_names().blocks)
def test_every_feature_has_something_to_be_about(name: str) -> None:
    assert topic_of(name) != "other"


@given(name=st.text(max_size=30))
def test_the_name_of_a_feature_that_is_not_known_never_raises(name: str) -> None:
    assert topic_of(name) in TOPICS


@pytest.mark.parametrize(
    ("feature", "topic"),
    [
        ("site text", "repeated text"),
        ("site above 2 repeated", "repeated text"),
        ("site above 0 presence", "site's habits"),
        ("above 3 names", "names"),
        ("characters to title", "title"),
        ("best text score above", "main text"),
        ("in nav", "landmark"),
        ("window 8 link share", "neighbours"),
        ("above 1 link share", "links"),
        ("above 1 share of text", "surroundings"),
        ("page link share", "whole page"),
    ],
)
def test_a_feature_is_about_what_its_name_says(feature: str, topic: str) -> None:
    assert topic_of(feature) == topic


def test_a_menu_says_that_it_is_links_and_a_text_that_comes_back_says_on_how_many_pages() -> None:
    pages = [page(number, story) for number, story in enumerate(STORIES)]
    menu = [(kept, why) for text, kept, why in reasons(pages[0], judged(pages[:1])) if text.startswith("Place")]
    assert not any(kept for kept, _ in menu)
    assert any("100% links" in why for _, why in menu)
    found = {text: (kept, why) for text, kept, why in reasons(pages[0], judged(pages))}
    assert found[STORIES[0]][0]
    assert not found["All rights reserved"][0]
    told = " ".join(why for kept, why in found.values() if not kept)
    assert "the same text stands on 3 of 3 other pages" in told


def test_a_text_that_was_taken_already_says_so() -> None:
    story = STORIES[0]
    one = page(0, story, f"<p>{STORIES[1]}</p><div><p>{story}</p></div>")
    again = [(kept, why) for text, kept, why in reasons(one, judged([one])) if text == story]
    assert again[0][0]
    assert again[1] == (False, "the same text was taken already, further up on the page")


def test_of_two_pages_the_other_one_is_named_as_such() -> None:
    pages = [page(number, story) for number, story in enumerate(STORIES[:2])]
    told = " ".join(why for _, _, why in reasons(pages[0], judged(pages)))
    assert "the same text stands on the one other page known" in told
    assert "1 of 1" not in told


def test_an_element_has_the_reason_of_its_longest_block_that_was_judged_so() -> None:
    one = page(0, STORIES[0])
    judgement = judged([one])
    nodes = one.nodes
    for index, tag in enumerate(nodes.tags):
        below = [node for node in range(index, nodes.ends[index]) if nodes.tags[node] is TEXT]
        alike = [node for node in below if judgement.noise[node] == judgement.noise[index]]
        if tag is not TEXT and below:
            longest = max(alike, key=lambda node: len("".join(nodes.texts[node].split())))
            assert judgement.reason(index) == judgement.reason(longest)


@given(pages=st.lists(html_pages(), min_size=1, max_size=3))
def test_every_block_of_any_page_has_a_reason_of_three_parts_at_most(pages: list[str]) -> None:
    parsed = [Page.parse(f"https://example.com/{number}", html) for number, html in enumerate(pages)]
    for one, kept, why in reasons(parsed[0], judged(parsed)):
        assert not one or why
        assert len(why.split("; ")) <= 4  # one phrase has a semicolon of its own
        assert not [word for word in (_FOR_DROPPING if kept else _FOR_KEEPING) if word in why]


def test_reasons_on_gold_pages_never_speak_for_the_other_verdict(corpus: Path) -> None:
    sites = by_site(read_gold(corpus, "daniel"), 4)
    for name in random.Random(4).sample(sorted(sites), 4):
        pages = [Page.parse(url, html, site=name) for url, html in addressed(sites[name])[:6]]
        for known in (pages[:1], pages):
            for _, kept, why in list(reasons(pages[0], judged(known)))[::5]:
                assert why
                assert not [word for word in (_FOR_DROPPING if kept else _FOR_KEEPING) if word in why]
