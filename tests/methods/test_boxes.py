"""What boxes in an article say of themselves, and what the posts of a thread are, as the model sees them."""

from __future__ import annotations

import numpy as np
import pytest

from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.boxes import BOXES, boxes_of
from denoise_crawler.methods.fusion.features import Look, Words
from denoise_crawler.methods.fusion.page_type import PAGE_TYPE_NAMES, traits_of
from denoise_crawler.methods.fusion.record_blocks import posts
from denoise_crawler.page import Page

STORY = "<p>The crew hauled nine nets before the wind rose, and sold on the quay what they had.</p>"


def marked(html: str, column: str) -> list[str]:
    """Return the texts that a column marks on a page of two paragraphs with ``html`` between."""
    page = Page.parse("https://a.example/", f"<h1>Nets</h1><div>{STORY}{html}{STORY}</div>")
    row = np.broadcast_to(boxes_of(page), (len(BOXES), len(page.once(blocks_of))))[BOXES.index(column)]
    return [text for text, mark in zip(page.once(blocks_of).texts, row, strict=True) if mark]


@pytest.mark.parametrize("label", ["Advertisement", "– Anzeige –", "広告", "Publicité:"])
def test_what_stands_in_one_box_below_the_label_of_an_advertisement_is_marked(label: str) -> None:
    box = f"<div><span>{label}</span><p>Nets at half price.</p></div>"
    assert marked(box, "below advertisement") == [label, "Nets at half price."]
    assert marked(f"<p>{label} of nets</p>", "below advertisement") == []


def test_a_box_with_a_field_for_an_address_is_marked_but_not_the_article_around_it() -> None:
    box = "<div><p>News of the quay.</p><form><input type=email><p>Send</p></form></div>"
    page = Page.parse("https://a.example/", f"<h1>Nets</h1><div>{12 * STORY}{box}{12 * STORY}</div>")
    row = boxes_of(page)[BOXES.index("near address field")]
    texts = page.once(blocks_of).texts
    assert [text for text, mark in zip(texts, row, strict=True) if mark] == ["News of the quay.", "Send"]


@pytest.mark.parametrize("label", ["3 Comments", "Your comments", "Kommentare (3)", "网友评论", "Комментарии"])
def test_what_follows_a_label_of_comments_in_its_section_is_marked(label: str) -> None:
    section = f"<section><h3>{label}</h3><p>Well done.</p></section>"
    assert marked(section, "below comments") == [label, "Well done."]
    assert marked("<p>The crew made no comment.</p>", "below comments") == []


def test_each_element_with_one_of_several_buttons_to_answer_is_marked() -> None:
    comment = "<li><b>{}</b><p>Well done, {}.</p><a href=#>Reply</a></li>"
    both = f"<ul>{comment.format('Ann', 1)}{comment.format('Bob', 2)}</ul>"
    assert marked(both, "answerable") == ["Ann", "Well done, 1.", "Reply", "Bob", "Well done, 2.", "Reply"]
    assert marked(f"<ul>{comment.format('Ann', 1)}</ul>", "answerable") == []


@pytest.mark.parametrize(
    "call", ["Subscribe to our letter.", "Подпишитесь на рассылку.", "订阅我们的邮件，这是免费的。"]
)
def test_a_line_that_calls_on_the_reader_is_marked(call: str) -> None:
    assert marked(f"<p>{call}</p>", "calls") == [call]


def thread(count: int, beside: str = "") -> Page:
    post = (
        f"<div class=post>{beside}"
        "<div class=head>Posted by <a href=/user/{0}>crew{0}</a> on May {1}, 2024</div>"
        "<div class=body><p>On day {1} we had {0} nets out, and it was colder than before.</p></div></div>"
    )
    html = "".join(post.format(number, number + 1) for number in range(count))
    return Page.parse(
        "https://a.example/t/1", f"<h1>How cold is it?</h1><div class=thread>{html}</div><p>Imprint</p>"
    )


def test_the_posts_of_a_thread_are_taken_and_the_lines_that_say_who_wrote_them_are_not() -> None:
    page = thread(4)
    blocks = page.once(blocks_of)
    look = Look.of(page, Words.none())
    texts, heads = posts(page, look, np.full(len(blocks), 0.5))
    assert [blocks.texts[one] for one in np.flatnonzero(heads)] == [
        f"Posted by crew{number} on May {number + 1}, 2024" for number in range(4)
    ]
    assert [blocks.texts[one][:8] for one in np.flatnonzero(texts)] == [f"On day {day}" for day in range(1, 5)]


def test_posts_that_are_no_text_by_their_words_are_not_taken() -> None:
    page = thread(4)
    blocks = page.once(blocks_of)
    texts, _ = posts(page, Look.of(page, Words.none()), np.full(len(blocks), 0.1))
    assert not texts.any()


@pytest.mark.parametrize(("beside", "is_left_out"), [("Deck hand", True), (STORY, False)])
def test_what_stands_between_posts_is_not_taken_if_they_have_more_text(beside: str, *, is_left_out: bool) -> None:
    page = thread(4, f"<p>{beside}</p>")
    blocks = page.once(blocks_of)
    _, heads = posts(page, Look.of(page, Words.none()), np.full(len(blocks), 0.5))
    assert {blocks.texts[one] for one in np.flatnonzero(heads)}.issuperset([beside.strip()]) == is_left_out


def test_a_page_whose_text_stands_between_dates_and_users_looks_like_a_thread_and_an_article_does_not() -> None:
    names = [name for name in PAGE_TYPE_NAMES if name.startswith("thread ")]
    like, plain = (
        dict(zip(PAGE_TYPE_NAMES[7:], traits_of(page), strict=False))
        for page in (thread(5), Page.parse("https://a.example/", f"<h1>Nets</h1>{9 * STORY}<p>May 2, 2024</p>"))
    )
    assert like["thread likeness"] > 0.5
    assert like["thread users"] == 1.0
    assert [plain[name] for name in names] == [0.0, 0.0, 0.0]
