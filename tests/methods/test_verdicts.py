"""A verdict: its reasons, its guard, what is wished of it, and what it is without other pages."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.denoiser import Denoiser, denoise_pages
from denoise_crawler.methods import Judgement, MethodChoice, apply_guard
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.methods.fusion.features import BLOCK_NAMES
from denoise_crawler.methods.fusion.reasons import topic_of
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import TEXT, Page
from examples.demo_site.articles import article_path, articles
from examples.demo_site.pages import article_page
from tests.strategies import html_pages

STORIES = [
    "A ferry ran aground off the northern cape before dawn, and forty passengers were taken off by lifeboat.",
    "Voters rejected the harbour toll by a narrow margin, although the council had asked them to accept it.",
    "The museum bought back its stolen astrolabe, which had been missing from the great hall since the war.",
    "Rain delayed every train across the valley, and the bridge at the mill stayed closed until the evening.",
]
APPEAL = "Support our newsroom: a subscription costs less than a cup of coffee a week, and you may cancel it."
# what a reason for the other verdict would say
_FOR_KEEPING, _FOR_DROPPING = ("usual for content", "inside article"), ("usual for noise", "inside nav")


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


@pytest.mark.parametrize("name", BLOCK_NAMES)
def test_every_feature_has_something_to_be_about(name: str) -> None:
    assert topic_of(name) != "other"


def test_a_menu_says_that_it_is_links_and_a_text_that_comes_back_says_on_how_many_pages() -> None:
    pages = [page(number, story) for number, story in enumerate(STORIES)]
    menu = [(kept, why) for text, kept, why in reasons(pages[0], judged(pages[:1])) if text.startswith("Place")]
    assert not any(kept for kept, _ in menu)
    assert any("100% links" in why for _, why in menu)
    found = {text: (kept, why) for text, kept, why in reasons(pages[0], judged(pages))}
    assert found[STORIES[0]][0]
    assert not found["All rights reserved"][0]
    assert "its text is on 3 of 3 other pages" in " ".join(why for kept, why in found.values() if not kept)


def test_a_text_that_was_taken_already_says_so() -> None:
    story = STORIES[0]
    one = page(0, story, f"<p>{STORIES[1]}</p><div><p>{story}</p></div>")
    again = [(kept, why) for text, kept, why in reasons(one, judged([one])) if text == story]
    assert again[0][0]
    assert again[1] == (False, "the same text was taken already, further up on the page")


@given(pages=st.lists(html_pages(), min_size=1, max_size=3))
def test_every_block_of_any_page_has_a_reason_of_three_parts_at_most(pages: list[str]) -> None:
    parsed = [Page.parse(f"https://example.com/{number}", html) for number, html in enumerate(pages)]
    for one, kept, why in reasons(parsed[0], judged(parsed)):
        assert not one or why
        assert len(why.split("; ")) <= 4  # one phrase has a semicolon of its own
        assert not [word for word in (_FOR_DROPPING if kept else _FOR_KEEPING) if word in why]


STORY = (
    "A ferry ran aground off the northern cape before dawn, and forty passengers were taken off by lifeboat. "
    "Nobody was hurt, the coast guard said, but the ship will have to be towed to the yard before the weekend."
)
ARTICLE = f"<h1>Ferry aground</h1><article><p>{STORY}</p><p>{STORY[::-1]}</p></article>"
LINKS = "<ul>" + "".join(f"<li><a href=/{number}>Another story {number}</a>" for number in range(200)) + "</ul>"


def guarded_page(html: str) -> Page:
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
    one = guarded_page(ARTICLE + LINKS)
    judgement = keeping(one, "ferry")
    assert apply_guard(one, judgement) is judgement


def test_where_a_menu_was_kept_and_the_text_dropped_the_page_alone_is_judged() -> None:
    one = guarded_page(ARTICLE + LINKS)
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
    one = guarded_page(f"<h1>Ferry aground</h1><article>{long}</article>")
    assert apply_guard(one, keeping(one, "Part 1.")).guarded
    assert not apply_guard(one, keeping(one, *(f"Part {number}." for number in range(10)))).guarded


def test_a_page_without_a_text_is_not_guarded_for_want_of_one() -> None:
    one = guarded_page(LINKS + "<p>Short.</p>")
    judgement = keeping(one, "Another story 7")
    assert apply_guard(one, judgement) is judgement


def test_if_nothing_was_kept_of_a_page_without_a_text_everything_is() -> None:
    one = guarded_page(LINKS)
    safe = apply_guard(one, keeping(one))
    assert safe.guarded
    assert not any(safe.noise)
    assert safe.reason(3) == "guard: everything looked like noise, so all was kept"


@given(html=html_pages())
def test_what_was_dropped_whole_never_stays_empty(html: str) -> None:
    one = guarded_page(html)
    safe = apply_guard(one, keeping(one))
    assert len(safe.noise) == len(safe.scores) == len(one.nodes)
    assert any(tag is TEXT for tag in one.nodes.tags) == (clean_text(one, safe.noise) != "")


def test_link_ratio_keeps_the_text_of_a_page_that_is_mostly_links() -> None:
    one = guarded_page(f"{ARTICLE}{LINKS}")
    denoiser = Denoiser("link_ratio")
    assert all(denoiser.method_for(one.site).judge(one).noise)
    assert denoiser.judge(one).guarded
    text = denoiser.clean(one).clean_page.text
    assert STORY in text
    assert text.count("Another story") < 5


URL = "https://news.example/ferry"
PARAGRAPHS = [
    "A ferry ran aground off the northern cape before dawn, and forty passengers were taken off by lifeboat.",
    "Nobody was hurt, the harbour office said, and the line has ordered a second ship for the evening.",
]
HTML = f"""<title>Ferry aground</title><nav><a href=/>Home</a> <a href=/sport>Sport</a></nav>
<article><h1>Ferry aground</h1><p>{PARAGRAPHS[0]}</p><p>{PARAGRAPHS[1]}</p></article>
<footer><a href=/imprint>Imprint</a> All rights reserved</footer>"""


def text_of(**options: object) -> str:
    [page] = denoise_pages([(URL, HTML)], method="one_look", **options)
    return page.text


def test_a_story_is_left_of_its_page() -> None:
    assert text_of() == "\n".join(["Ferry aground", *PARAGRAPHS])


@pytest.mark.parametrize("method", ["one_look", "fusion"])
def test_recall_keeps_all_that_precision_keeps(method: str) -> None:
    judged = {
        favour: Denoiser(MethodChoice(method, {"favour": favour})).judge(Page.parse(URL, HTML)).noise
        for favour in ("precision", "balanced", "recall")
    }
    for less, more in (("precision", "balanced"), ("balanced", "recall")):
        assert all(gone for gone, also in zip(judged[less], judged[more], strict=True) if also)


@given(pages=st.lists(html_pages(), min_size=2, max_size=4))
def test_what_other_pages_hold_changes_nothing(pages: list[str]) -> None:
    denoiser = Denoiser("one_look", knowledge=InMemoryKnowledge())
    parsed = [Page.parse(f"{URL}/{number}", html) for number, html in enumerate(pages)]
    for page in parsed:
        denoiser.learn(page)
    for page, html in zip(parsed, pages, strict=True):
        assert denoiser.judge(page).scores == Denoiser("one_look").judge(Page.parse(page.url, html)).scores


PAGES = [
    (f"https://news.example{article_path(one)}", article_page(one, "https://news.example"))
    for one in articles()[:8]
]


def texts(**wishes: object) -> list[str]:
    return [page.text for page in denoise_pages(PAGES, **wishes)]


def test_the_title_is_kept_unless_somebody_wants_it_left_out() -> None:
    titles = [one.title for one in articles()[:8]]
    for title, kept, left in zip(titles, texts(), texts(title="leave"), strict=True):
        assert kept.startswith(title)
        assert not left.startswith(title)
        assert set(left.split("\n")) <= set(kept.split("\n"))


WISHES_ARTICLE = "<h1>The harbour is open</h1>" + "".join(
    f"<p>Boat number {number} came in at noon and left before the rain began.</p>" for number in range(9)
)
COMMENTS = (
    "<div class=comments><h3>3 comments</h3><ul>"
    "<li><span>I saw it too, and it was a fine boat.</span> – <a href=/u/1>Ann</a> <i>May 2</i></li>"
    "<li><span>It was not there on Monday, I am sure.</span> – <a href=/u/2>Bob</a> <i>May 3</i></li></ul>"
    "<a href=#>add a comment</a><form><p>Write what you think of the boats of this harbour.</p></form></div>"
)


def test_comments_are_kept_where_they_are_wished_without_their_buttons_and_forms() -> None:
    pages = [("https://news.example/1", WISHES_ARTICLE + COMMENTS)]
    [left], [kept] = ([page.text for page in denoise_pages(pages, comments=wish)] for wish in ("leave", "keep"))
    assert "fine boat" not in left
    assert "fine boat" in kept
    assert "not there on Monday" in kept
    assert "add a comment" not in kept
    assert "Write what" not in kept


def test_the_newest_comments_of_other_pages_are_no_comments_of_this_one() -> None:
    teasers = "".join(f"<li><a href=/{number}>Other story {number}</a></li>" for number in range(30))
    widget = f"<div id=sidebar><ul>{teasers}</ul>{COMMENTS}</div>"
    [kept] = denoise_pages([("https://news.example/1", WISHES_ARTICLE + widget)], comments="keep")
    assert "fine boat" not in kept.text
