"""Dates and authors that only stand on the page, beside its heading."""

from __future__ import annotations

import pytest

from denoise_crawler.page import Page
from denoise_crawler.page.metadata import Metadata, metadata_of, names_in

STORY = "<p>" + "The harbour was quiet in the morning, said one who was there on May 3, 2001. " * 30


def read(body: str, head: str = "<title>A Quiet Harbour - Example</title>") -> Metadata:
    return metadata_of(Page.parse("https://example.com/story", head + body))


@pytest.mark.parametrize(
    ("said", "date"),
    [
        ("2019/04/13", "2019-04-13"),
        ("April 13, 2019", "2019-04-13"),
        ("2019年4月13日", "2019-04-13"),
        ("13 avril 2019", "2019-04-13"),
        ("Publié le 1er août 2019", "2019-08-01"),
        ("13. März 2019, 10:03", "2019-03-13T10:03:00"),
        ("13 de abril de 2019", "2019-04-13"),
        ("Updated April 13, 2019", None),
        ("1970-01-01", None),
        ("1969-12-31", None),
        ("April 13, 1985", None),
    ],
)
def test_a_date_beside_the_heading_is_that_of_the_page(said: str, date: str | None) -> None:
    assert read(f"<h1>A Quiet Harbour</h1><div>{said}</div>{STORY}").date == date
    assert read(f"<div>{said}</div><h1>A Quiet Harbour</h1>{STORY}").date == date


def test_a_date_in_a_sentence_or_far_from_the_heading_is_none_of_the_page() -> None:
    assert read(f"<h1>A Quiet Harbour</h1>{STORY}<div>April 13, 2019</div>").date is None
    assert read("<p>April 13, 2019" + STORY).date is None


def test_a_tag_that_says_the_date_counts_more_than_what_stands_on_the_page() -> None:
    head = "<title>A</title><meta property=article:published_time content=2018-01-02>"
    assert read(f"<h1>A Quiet Harbour</h1><div>April 13, 2019</div>{STORY}", head).date == "2018-01-02"


@pytest.mark.parametrize("date", ["1970-01-01", "1969-12-31T23:59:59Z", "0001-01-01"])
def test_a_clock_that_was_never_set_is_no_date(date: str) -> None:
    head = f"<title>A</title><meta property=article:published_time content={date}>"
    assert read(f"<h1>A Quiet Harbour</h1>{STORY}", head).date is None


@pytest.mark.parametrize(
    ("said", "author"),
    [
        ("<div>By Ann Lee</div>", "Ann Lee"),
        ("<div>By <b>Ann Lee</b>, Bo de la Cruz</div>", "Ann Lee"),
        ("<div>By Ann Lee and Bo de la Cruz | Staff</div>", "Ann Lee; Bo de la Cruz"),
        ("<span class=article-byline>Ann O'Neil</span>", "Ann O'Neil"),
        ("<div class=byline><span>Ann Lee for Example</span></div>", "Ann Lee"),
        ("<div class=author-bio>Ann Lee</div>", None),
        ("<div>By the sea it is quiet</div>", None),
        ("<div>Ann Lee</div>", None),
    ],
)
def test_a_byline_is_known_by_its_class_or_by_by(said: str, author: str | None) -> None:
    assert read(f"<h1>A Quiet Harbour</h1>{said}{STORY}").author == author


def test_what_is_no_name_is_taken_from_an_author_and_a_letter_is_none() -> None:
    assert names_in("Ann Lee | Journal Staff Writer") == ["Ann Lee"]
    assert names_in("V") == []
    assert names_in("More stories by Ann Lee") == ["Ann Lee"]


def test_a_title_of_two_letters_counts_if_there_is_no_other() -> None:
    assert read("<h1>It</h1>", "<title>It</title>").title == "It"
    head = "<meta property=og:title content=V><title>A Quiet Harbour</title>"
    assert read("<h1>V</h1>", head).title == "A Quiet Harbour"
