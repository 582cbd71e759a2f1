"""Posts are found in threads of every build, with who wrote them, when, and where they stand."""

from typing import Any

import pytest
from hypothesis import given, settings

from denoise_crawler import Page, Writing, by_record, denoise_pages
from denoise_crawler.output.clean_page import MAX_RECORDS, page_records
from denoise_crawler.records.posts import find_posts
from denoise_crawler.records.thread import find_date
from tests.strategies import html_pages

URL = "https://forum.example/topic/7"
POSTS = [
    ("Ann", "May 2, 2024", "Is the harbour open today? I would like to see the boats."),
    ("Bob_7", "May 3, 2024", "It is, until six. Bring a coat, as it is windy out there."),
    ("Ann", "May 3, 2024", "Thanks. We went there by bus and saw three of them."),
    ("C. Diaz", "May 9, 2024", "I missed it."),
]
FRAME = (
    "<body><nav><a href=/>Home</a> <a href=/rules>Rules</a></nav><h1>The harbour</h1>{}<footer>About us</footer>"
)
BUILDS = {
    "divisions": (
        "<div class='post odd' id=p{number}><div class=head><a class=username href=/members/{number}>{user}</a>"
        "<span class=date>{time}</span></div><div class=body>{text}</div><a href=/reply/{number}>Reply</a></div>"
    ),
    "rows of a table": (
        "<tr><td class=info><b class=author>{user}</b><br>Posts: 1{number}</td>"
        "<td><div class=when>{time}</div><div class=message>{text}</div></td></tr>"
    ),
    "rows by turns": (
        "<tr><td>by <a href=/u/{number} class=user>{user}</a>: <i>{time}</i></td></tr>"
        "<tr><td><div class=narrow>{text}</div></td></tr>"
    ),
    "rows with a link to the top between them": (
        "<tr><td><span class=name>{user}</span><br>Joined: {number} Mar 2005</td>"
        "<td><div>Posted: {time}</div><div class=message>{text}</div></td></tr>"
        "<tr><td><span class=nav><a href=#top>Back to top</a></span></td></tr>"
    ),
    "a letter in place of a picture": (
        "<div class=post><a class=user href=/members/{number}>{user[0]}</a> <a href=/members/{number}>{user}</a>"
        "<div>{time}</div><div class=text>{text}</div></div>"
    ),
    "a list with microdata": (
        "<li><span itemprop=author>{user}</span> <time datetime=2024-05-0{number}T10:00>{time}</time>"
        "<div itemprop=text>{text}</div></li>"
    ),
    "who wrote it behind the text": (
        "<li><p class=content>{text}</p><footer><a href=/profile/{number}>{user}</a> {time}</footer></li>"
    ),
    "signatures": (
        "<div class=post><div class=who><a class=user href=/u>{user}</a></div><div>{time}</div>"
        "<div class=text>{text}<div class=signature>Sent from my boat no {number}</div></div></div>"
    ),
}


def thread(build: str) -> str:
    posts = (
        BUILDS[build].format(number=number, user=user, time=time, text=text)
        for number, (user, time, text) in enumerate(POSTS, 1)
    )
    inner = "".join(posts)
    return FRAME.format(f"<table>{inner}</table>" if build.startswith("rows") else f"<ol>{inner}</ol>")


def records(html: str) -> list[dict[str, str]]:
    return page_records(Page.parse(URL, html), None, "forum")


@pytest.mark.parametrize("build", BUILDS)
def test_each_post_has_its_text_and_its_user(build: str) -> None:
    found = records(thread(build))
    assert [(record["user"], record["text"]) for record in found] == [(user, text) for user, _, text in POSTS]
    assert all(record["kind"] == "post" and record["time"] for record in found)


def test_the_time_is_that_for_machines_where_there_is_one() -> None:
    assert records(thread("a list with microdata"))[1]["time"] == "2024-05-02T10:00:00"
    assert records(thread("divisions"))[1]["time"] == "2024-05-03"


def test_the_link_is_that_of_the_post_or_of_its_element() -> None:
    assert records(thread("divisions"))[1].get("link") is None  # one digit may be any number
    html = thread("divisions").replace("id=p", "id=p100")
    assert records(html)[1]["link"] == f"{URL}#p1002"
    html = html.replace("<a href=/reply/2>", "<a class=permalink href=/post/1002>#2</a><a href=/reply/2>")
    assert records(html)[1]["link"] == "https://forum.example/post/1002"


def test_what_a_post_quotes_is_its_text_and_what_all_posts_say_is_not() -> None:
    html = thread("divisions").replace(
        "It is, until six.", "<blockquote>Ann wrote: Is it open?</blockquote>It is, until six."
    )
    html = html.replace("</div><a href=/reply", "<p>Report this</p></div><a href=/reply")
    assert records(html)[1]["text"].splitlines() == [
        "Ann wrote: Is it open?",
        "It is, until six. Bring a coat, as it is windy out there.",
    ]


def test_a_page_of_one_text_has_no_posts() -> None:
    story = FRAME.format("".join(f"<p>Paragraph {number} of a long story.</p>" for number in range(20)))
    assert page_records(Page.parse(URL, story), None, "article") == []
    assert records(story) == []


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Posted: 12.03.2020, 19:29", "12.03.2020, 19:29"),
        ("3 hours ago", "3 hours ago"),
        ("vor zwei Tagen", "vor zwei Tagen"),
        ("il y a 3 jours", "il y a 3 jours"),
        ("2020年3月12日", "2020年3月12日"),
        ("29. Juni 2020 10:23", "29. Juni 2020 10:23"),
        ("Today, 10:15", "Today, 10:15"),
        ("Is it open today?", None),
        ("Version 1.2.3", None),
        ("A story.", None),
    ],
)
def test_dates_are_told_from_words(text: str, date: str | None) -> None:
    assert find_date(text) == date


@settings(max_examples=60)
@given(html_pages())
def test_any_page_has_records_that_are_parts_of_it(html: Any) -> None:
    page = Page.parse(URL, html)
    ends = 0
    for post in find_posts(page):
        assert post.inside.start >= ends
        assert all(part.start in post.inside and part.stop <= post.inside.stop for part in post.left_out)
        ends = post.inside.stop
    for page_type in ("forum", "listing", None):
        for record in page_records(page, None, page_type):
            assert all(isinstance(value, str) for value in record.values())


def test_so_many_posts_are_returned_and_no_more() -> None:
    post = "<div class=post><b class=user>Ann</b> <i>May 2, 2024</i><p>Text number {} of a long thread.</p></div>"
    found = records("".join(post.format(number) for number in range(MAX_RECORDS + 50)))
    assert len(found) == MAX_RECORDS
    assert found[-1]["text"] == f"Text number {MAX_RECORDS - 1} of a long thread."


def test_by_record_gives_a_page_for_each_record() -> None:
    [page] = denoise_pages([(URL, thread("divisions"))], method="link_ratio", writing=Writing(records=True))
    pages = list(by_record(page))
    assert [(one.author, one.date, one.text) for one in pages][:2] == [
        ("Ann", "2024-05-02", POSTS[0][2]),
        ("Bob_7", "2024-05-03", POSTS[1][2]),
    ]
    assert {one.url for one in pages} == {URL}
    assert [one.records for one in pages] == [[record] for record in page.records or ()]


def test_without_the_wish_there_are_none() -> None:
    [page] = denoise_pages([(URL, thread("divisions"))])
    assert (page.records, page.fields, page.json_ld) == (None, None, None)
    assert list(by_record(page)) == []


def test_the_number_of_a_document_is_not_the_user() -> None:
    post = "<li><div class=author>23-170{}P.01A</div> <i>May 2, 2024</i><p>{}</p></li>"
    html = "".join(post.format(n, text) for n, (_, _, text) in enumerate(POSTS))
    assert [record.get("user") for record in records(html)] == [None] * len(POSTS)


def test_a_word_before_the_date_is_not_the_user() -> None:
    post = "<li><div class=user-time>{} <i>May 2, 2024</i></div><div class=user-card>{}</div><p>{}</p></li>"
    words = ("asked", "answered", "edited", "answered")
    html = "".join(post.format(word, user, text) for word, (user, _, text) in zip(words, POSTS, strict=True))
    assert [record["user"] for record in records(html)] == [user for user, _, _ in POSTS]


def test_a_time_for_machines_that_nobody_filled_in_is_none() -> None:
    html = thread("a list with microdata").replace("2024-05-02T10:00", "comment_date")
    assert records(html)[1]["time"] == "2024-05-03"


@pytest.mark.parametrize(
    "said",
    [
        "<div class=when>asked <span title='2009-11-14 11:12:30Z'>Nov 14 '09 at 11:12</span></div>"
        "<div class=when>edited <span title='2017-01-05 00:40:31Z'>Jan 5 '17 at 0:40</span></div>",
        "<div class=when>Nov 14, 2009, 11:12 am</div><div class=when>Last edited on Jan 5, 2017, 0:40</div>",
        "<div class=when>Registriert seit 5. Januar 2017</div><div class=when>14. November 2009, 11:12</div>",
        "<div class=when>注册于 2017-01-05</div><div class=when>2009-11-14 11:12</div>",
        "<div class=when><i data-time='2009-11-14 11:12'>14 years ago</i></div>",
    ],
)
def test_a_post_has_the_day_when_it_was_written_not_that_of_a_change(said: str) -> None:
    post = "<div class=post><a class=user>{}</a>{}<div class=body>{}</div></div>"
    html = post.format("Ann", said, "Is it open today, or only at noon?") + post.format(
        "Bob", said, "It is, until six."
    )
    assert [record["time"][:16] for record in records(html)] == ["2009-11-14T11:12"] * 2
