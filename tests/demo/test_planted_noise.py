"""What the demo plants around and inside its stories, and what is left of it once its pages are known."""

from functools import cache

import pytest

from denoise_crawler.demo.articles import articles, load_json
from denoise_crawler.demo.feeds import article_page, article_path
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.page import Page

BASE = "https://demo.example"
NOISE = (
    *(
        "follow",
        "read_more",
        "newsletter_text",
        "cookie",
        "copyright",
        "noscript",
        "no_comments",
        "share",
        "subscribe",
    ),
    *("most_read", "related", "comments"),
)


@cache
def lines_of_texts() -> list[tuple[str, list[str]]]:
    """Return by story its language and the lines of its clean text, all others known."""
    denoiser = Denoiser("fusion")
    pages = [(one.lang, Page.parse(BASE + article_path(one), article_page(one, BASE))) for one in articles()]
    for _, page in pages:
        denoiser.learn(page)
    return [(lang, denoiser.clean(page).clean_page.text.splitlines()) for lang, page in pages]


@pytest.mark.parametrize("name", NOISE)
def test_no_line_of_this_kind_is_left_where_the_site_is_known(name: str) -> None:
    words = load_json("texts.json")["words"]
    left = [line for lang, lines in lines_of_texts() for line in lines if line.startswith(words[lang][name])]
    assert left == []


def test_every_story_is_kept_whole_but_for_one_line_of_twenty() -> None:
    kept = [set(lines) for _, lines in lines_of_texts()]
    gold = [
        (number, line)
        for number, one in enumerate(articles())
        for block in one.paragraphs
        if block.kind in ("text", "quote", "heading")
        for line in block.lines
    ]
    missing = [line for number, line in gold if not any(line in text for text in kept[number])]
    assert len(missing) * 20 <= len(gold), missing
