from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from denoise_crawler.denoiser import Denoiser, denoise_pages
from denoise_crawler.evaluation.gold import addressed, by_site, read_gold
from denoise_crawler.methods import METHODS, Judgement, apply_guard
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import TEXT, Page
from tests.strategies import html_pages

if TYPE_CHECKING:
    from pathlib import Path

STORY = (
    "A ferry ran aground off the northern cape before dawn, and forty passengers were taken off by lifeboat. "
    "Nobody was hurt, the coast guard said, but the ship will have to be towed to the yard before the weekend."
)
ARTICLE = f"<h1>Ferry aground</h1><article><p>{STORY}</p><p>{STORY[::-1]}</p></article>"
LINKS = "<ul>" + "".join(f"<li><a href=/{number}>Another story {number}</a>" for number in range(200)) + "</ul>"


def page(html: str) -> Page:
    return Page.parse("https://example.com/1", html)


def keeping(one: Page, *words: str) -> Judgement:
    """Return a verdict that keeps the runs of text with one of ``words``, and what they stand in."""
    nodes = one.nodes
    noise = [True] * len(nodes)
    for index, text in enumerate(nodes.texts):
        node = index
        while any(word in text for word in words) and node >= 0:
            noise[node] = False
            node = nodes.parents[node]
    return Judgement(noise, [0.5] * len(nodes), lambda index: f"because {index}")


def test_a_verdict_that_keeps_the_text_is_left_alone() -> None:
    one = page(ARTICLE + LINKS)
    judgement = keeping(one, "ferry")
    assert apply_guard(one, judgement) is judgement


def test_where_a_menu_was_kept_and_the_text_dropped_the_page_alone_is_judged() -> None:
    one = page(ARTICLE + LINKS)
    safe = apply_guard(one, keeping(one, "Another story 7"))
    assert safe.guarded
    text = clean_text(one, safe.noise)
    assert STORY in text
    assert "Another story" not in text
    story = next(index for index, words in enumerate(one.nodes.texts) if words == STORY)
    assert "(guard, as 0 of" in safe.reason(story)
    assert "characters of running text were left: the page alone was judged)" in safe.reason(story)


def test_a_little_of_the_text_is_not_enough_and_a_tenth_is() -> None:
    long = "".join(f"<p>{STORY} Part {number}.</p>" for number in range(30))
    one = page(f"<h1>Ferry aground</h1><article>{long}</article>")
    assert apply_guard(one, keeping(one, "Part 1.")).guarded
    assert not apply_guard(one, keeping(one, *(f"Part {number}." for number in range(10)))).guarded


def test_a_page_without_a_text_is_not_guarded_for_want_of_one() -> None:
    one = page(LINKS + "<p>Short.</p>")
    judgement = keeping(one, "Another story 7")
    assert apply_guard(one, judgement) is judgement


def test_if_nothing_was_kept_of_a_page_without_a_text_everything_is() -> None:
    one = page(LINKS)
    safe = apply_guard(one, keeping(one))
    assert safe.guarded
    assert not any(safe.noise)
    assert safe.reason(3) == "guard: everything looked like noise, so all was kept"


@pytest.mark.parametrize("html", ["", "<p>", "<img src=a>"])
def test_a_page_without_any_text_has_nothing_to_guard(html: str) -> None:
    one = page(html)
    judgement = keeping(one)
    assert apply_guard(one, judgement) is judgement


@given(html=html_pages())
def test_what_was_dropped_whole_never_stays_empty(html: str) -> None:
    one = page(html)
    safe = apply_guard(one, keeping(one))
    assert len(safe.noise) == len(safe.scores) == len(one.nodes)
    assert any(tag is TEXT for tag in one.nodes.tags) == (clean_text(one, safe.noise) != "")


def test_link_ratio_keeps_the_text_of_a_page_that_is_mostly_links() -> None:
    one = page(f"{ARTICLE}{LINKS}")
    denoiser = Denoiser("link_ratio")
    assert all(denoiser.method_for(one.site).judge(one).noise)
    assert denoiser.judge(one).guarded
    text = denoiser.clean(one).clean_page.text
    assert STORY in text
    assert text.count("Another story") < 5


@pytest.mark.parametrize("name", sorted(METHODS))
@pytest.mark.parametrize("gold_set", ["daniel", "dragnet", "l3s_gn1"])
def test_no_gold_page_comes_out_empty(corpus: Path, name: str, gold_set: str) -> None:
    sites = by_site(page for page in read_gold(corpus, gold_set) if page.gold)
    for site in sorted(sites)[:: len(sites) // 5]:
        pages = sites[site][:4]
        for gold, clean in zip(pages, denoise_pages(addressed(pages), method=name), strict=True):
            assert clean.text, gold.id
