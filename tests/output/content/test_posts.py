"""Threads in Markdown: a line of author and date before each post, a rule between posts, no controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from denoise_crawler import Writing, denoise_pages
from denoise_crawler.output.content.builder import content_blocks
from denoise_crawler.output.content.markdown import to_markdown
from denoise_crawler.page import Page
from denoise_crawler.records.thread import find_posts

if TYPE_CHECKING:
    from denoise_crawler.output.content.blocks import Block

URL = "https://forum.example/topic/7"
TEXTS = ("Is the harbour open today?", "It is, until six. Bring a coat.", "Thanks. We went there by bus.")
WHO = ("Ann", "Bob_7", "C. Diaz")
SAID = "\n\n***\n\n".join(
    f"**{who}** · 2024-05-0{day}\n\n{text}" for day, (who, text) in enumerate(zip(WHO, TEXTS, strict=True), 2)
)
BUILDS = {
    "divisions": "<div><a class=user>{who}</a> <i>May {day}, 2024</i><div class=body>{text}</div></div>",
    "a list": "<li class=post><a class=user>{who}</a> <i>May {day}, 2024</i><div class=body>{text}</div></li>",
    "quotations": (
        "<div class=post><b class=user>{who}</b> <i>May {day}, 2024</i><div class=body>"
        "<blockquote class=text>{text}</blockquote></div></div>"
    ),
    "words beside": "<li><p><b>{who}</b> wrote on <i>May {day}, 2024</i></p><div class=body>{text}</div></li>",
    "a rule of its own": "<div class=post><a class=user>{who}</a> <i>May {day}, 2024</i><p>{text}</p></div><hr>",
}


def thread(build: str) -> str:
    posts = enumerate(zip(WHO, TEXTS, strict=True), 2)
    inner = "".join(BUILDS[build].format(who=who, day=day, text=text) for day, (who, text) in posts)
    return f"<h1>The harbour</h1><ol>{inner}</ol>"


def markdown(html: str, noise: list[bool] | None = None) -> str:
    page = Page.parse(URL, html)
    return to_markdown(content_blocks(page, noise, posts=find_posts(page)))


@pytest.mark.parametrize(
    "build", [build for build in BUILDS if build not in ("words beside", "a rule of its own")]
)
def test_each_post_has_a_line_of_its_author_and_date_and_a_rule_before_it(build: str) -> None:
    assert markdown(thread(build)) == f"# The harbour\n\n{SAID}"


def test_a_line_of_author_and_date_is_not_said_again() -> None:
    assert "wrote on" not in markdown(thread("words beside"))


def test_a_rule_of_the_page_between_posts_is_not_written_twice() -> None:
    assert "***\n\n***" not in markdown(thread("a rule of its own"))


def test_a_post_that_is_noise_has_no_line() -> None:
    page = Page.parse(URL, thread("divisions"))
    last = page.once(find_posts)[-1].own
    noise = [index in last for index in range(len(page.nodes))]
    assert "C. Diaz" not in markdown(thread("divisions"), noise)


def test_text_that_says_itself_who_wrote_it_has_no_line_above() -> None:
    comment = "<li class=comment>{} – <a class=user>{}</a> <i>May {}, 2024</i></li>"
    posts = zip(TEXTS, WHO, (2, 3, 4), strict=True)
    html = "".join(comment.format(*post) for post in posts)
    assert "· 2024" not in markdown(f"<ul>{html}</ul>")
    assert markdown(f"<ul>{html}</ul>").count("Bob_7") == 1


def quotes(control: str) -> list[Block]:
    return content_blocks(Page.parse(URL, f"<blockquote><p>It was late.</p>{control}</blockquote><p>So it was."))


@pytest.mark.parametrize(
    "control",
    [
        "<div class=quoteExpand>Click to expand...</div>",
        "<div><a role=button tabindex=0>Zum Vergrößern anklicken</a></div>",
        "<p><button>Mehr</button></p>",
    ],
)
def test_what_opens_a_quotation_is_no_word_of_it(control: str) -> None:
    assert quotes(control) == quotes("")
    assert quotes("<p>We <a href=/home>went home</a>.</p>") != quotes("")


def test_words_that_end_several_quotations_are_a_control() -> None:
    quote = "<blockquote><p>Quotation number {}.</p><p>Show all</p></blockquote><p>Answer.</p>"
    assert "Show all" not in markdown("".join(quote.format(number) for number in range(3)))


def test_comments_of_readers_come_with_their_authors_where_they_are_wished() -> None:
    story = "<h1>The harbour is open</h1>" + "<p>Boats come and go all day, as they did last year in May.</p>" * 8
    comment = (
        "<li class=comment><a class=author>{}</a> <time>May {}, 2024</time><p>{} Then it rained all day.</p></li>"
    )
    comments = "".join(
        comment.format(who, day, text) for day, (who, text) in enumerate(zip(WHO, TEXTS, strict=True), 2)
    )
    pages = [(URL, f"<article>{story}</article><ol id=comments>{comments}</ol>")]
    writing = Writing("markdown")
    [left] = denoise_pages(pages, writing=writing)
    [kept] = denoise_pages(pages, writing=writing, comments="keep")
    assert "rained" not in left.text
    assert kept.text.startswith(left.text)
    assert all(f"**{who}** · 2024-05-0" in kept.text for who in WHO)
    assert kept.text.count("rained") == len(WHO)
