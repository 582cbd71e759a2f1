"""Articles over several pages, in real crawls over HTTP on this machine."""

from __future__ import annotations

import json
import signal
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from denoise_crawler.demo.feeds import article_page
from denoise_crawler.demo.replies import articles
from denoise_crawler.page import Page
from denoise_crawler.page.article_parts import part_of
from tests.article_spider import SPIDER
from tests.conftest import SETTINGS
from tests.loopback import HTML, Answer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Project

JOINING = """
ITEM_PIPELINES = {"denoise_crawler.pipelines.ArticlePartsPipeline": 300, "counting.Counting": 400}
"""
COUNTING = """
class Counting:
    def process_item(self, item):
        item["passed"] = item.get("passed", 0) + 1
        return item
"""
FOLLOWING = """
import scrapy
from denoise_crawler.pipelines import following_part

class FollowingSpider(scrapy.Spider):
    name = "following"
    custom_settings = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 1}

    def parse(self, response):
        yield {"url": response.url}
        if address := following_part(response):
            yield response.follow(address)
"""
TITLE = "How the harbour was built"
ENGLISH = [article for article in articles() if article.lang == "en"]
PARTS, OTHERS = ENGLISH[:3], ENGLISH[3:11]
STORY = ["/story", "/story?page=2", "/story?page=3"]


def part(number: int, base: str) -> str:
    """Return a part of one article: the text of another story of the bundled site below its headline."""
    found = article_page(PARTS[number], base).replace(PARTS[number].title, TITLE)
    links = [f'<link rel="next" href="{STORY[number + 1]}">'] if number < 2 else []
    links += [f'<link rel="prev" href="{STORY[number - 1]}">'] if number else []
    return found.replace("</head>", "".join(links) + "</head>")


def listing(number: int) -> str:
    rows = "".join(
        f"<li><h2><a href='/s{number}{row}'>Headline {row} of page {number}</a></h2><p>It says {row}.</p></li>"
        for row in range(30)
    )
    follows = f'<link rel="next" href="/list?page={number + 1}">'
    return f"<html><head><title>All stories</title>{follows}</head><body><ul>{rows}</ul></body></html>"


@contextmanager
def site() -> Iterator[str]:
    """Serve an article of three parts, other articles and a list of two pages."""
    base = "https://ledger.example"
    bodies = {path: part(number, base) for number, path in enumerate(STORY)}
    bodies |= {f"/other-{number}": article_page(article, base) for number, article in enumerate(OTHERS)}
    bodies |= {"/list": listing(1), "/list?page=2": listing(2)}
    with serving(lambda path: Answer(200, HTML, bodies[path].encode())) as served:
        yield served.url


@pytest.fixture
def crawls(project: Project) -> Project:
    project.write("project_settings.py", SETTINGS + 'ADDONS = {"denoise_crawler.Addon": 300}\n' + JOINING)
    project.write("counting.py", COUNTING)
    project.write("test_spiders.py", SPIDER + FOLLOWING)
    return project


def crawl(project: Project, base: str, paths: list[str], *arguments: str) -> dict[str, dict[str, Any]]:
    """Crawl pages in order; return the items by path."""
    project.write("urls.json", json.dumps([base + path for path in paths]))
    items = project.crawl("articles", "-s", "DOWNLOAD_DELAY=0", *arguments)
    assert {item["passed"] for item in items} == {1}
    found = {item["url"].removeprefix(base): item for item in items}
    assert len(found) == len(items)
    return found


ALL = [f"/other-{number}" for number in range(len(OTHERS))]
LAST_LINES = [article.paragraphs[-1].lines[0][:40] for article in PARTS]


def assert_joined(text: str) -> None:
    """Check that a text holds all parts, in order, with one headline."""
    places = [text.find(line) for line in LAST_LINES]
    assert -1 < places[0] < places[1] < places[2], text
    assert text.count(TITLE) == 1


@pytest.mark.parametrize(
    "story", [STORY, STORY[::-1], [STORY[1], STORY[2], STORY[0]]], ids=["in order", "backwards", "first last"]
)
@pytest.mark.parametrize("place", [0, 4, 8], ids=["waits", "ends the warm-up", "known site"])
def test_parts_are_joined_into_the_item_of_the_first_in_whatever_order_they_come(
    crawls: Project, story: list[str], place: int
) -> None:
    with site() as base:
        items = crawl(crawls, base, [*ALL[:place], *story, *ALL[place:], "/list", "/list?page=2"])
    assert set(items) == {STORY[0], *ALL, "/list", "/list?page=2"}
    assert_joined(items[STORY[0]]["text"])
    assert not any(line in items[path]["text"] for path in ALL for line in LAST_LINES)
    assert (crawls.stats["denoise/articles_joined"], crawls.stats["denoise/parts_joined"]) == (1, 2)
    assert "denoise/parts_apart" not in crawls.stats


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_spider_follows_the_parts_of_its_articles(crawls: Project, workers: str) -> None:
    with site() as base:
        crawls.write(
            "test_spiders.py",
            SPIDER + FOLLOWING + f"    start_urls = {[base + path for path in [*ALL, STORY[0]]]!r}\n",
        )
        crawled = crawls.crawl("following", "-s", f"DENOISE_WORKERS={workers}")
    items = {item["url"].removeprefix(base): item for item in crawled}
    assert set(items) == {STORY[0], *ALL}
    assert_joined(items[STORY[0]]["text"])


@pytest.mark.parametrize(
    ("fetched", "out"),
    [
        ([STORY[0], STORY[1]], [STORY[0]]),
        ([STORY[1], STORY[2]], [STORY[1], STORY[2]]),
        ([STORY[0], STORY[2]], [STORY[0], STORY[2]]),
    ],
    ids=["without the last", "without the first", "without the middle"],
)
def test_parts_whose_neighbours_never_come_go_on_when_the_crawl_ends(
    crawls: Project, fetched: list[str], out: list[str]
) -> None:
    with site() as base:
        items = crawl(crawls, base, [*ALL, *fetched])
    assert set(items) == {*ALL, *out}
    texts = "".join(item["text"] for item in items.values())
    numbers = [STORY.index(path) for path in fetched]
    assert all(texts.count(LAST_LINES[number]) == 1 for number in numbers)


@pytest.mark.parametrize("kept", ["", "-s JOBDIR=job"], ids=["", "job"])
def test_after_ctrl_c_no_part_is_lost(crawls: Project, kept: str) -> None:
    with site() as base:
        paths = [*ALL[:6], STORY[0], STORY[1], *ALL[6:], STORY[2]]
        crawls.write("urls.json", json.dumps([base + path for path in paths]))

        def is_held() -> bool:
            return (crawls.folder / "crawl.log").read_text().count("held as a part of an article") >= 2

        slow = ("-s", "DOWNLOAD_DELAY=0.5", "-s", "LOG_LEVEL=DEBUG", *kept.split())
        items = crawls.interrupted("articles", *slow, when=is_held, by=signal.SIGINT)
        count = Counter(item["url"].removeprefix(base) for item in items)
        assert count[STORY[0]] == 1
        assert count[STORY[1]] == 0
        [text] = [item["text"] for item in items if item["url"] == base + STORY[0]]
        assert all(line in text for line in LAST_LINES[:2])
        if kept:  # what the first run did not fetch comes in the second
            items = crawls.crawl("articles", *slow)
            count = Counter(item["url"].removeprefix(base) for item in items)
            assert count == Counter([*ALL, STORY[0], STORY[2]])


def test_after_kill_9_parts_that_had_waited_come_out_in_the_next_run(crawls: Project) -> None:
    with site() as base:
        paths = [STORY[0], STORY[1], *ALL]
        crawls.write("urls.json", json.dumps([base + path for path in paths]))

        def is_held() -> bool:
            return (crawls.folder / "crawl.log").read_text().count("held as a part of an article") >= 2

        slow = ("-s", "DOWNLOAD_DELAY=0.3", "-s", "LOG_LEVEL=DEBUG")
        process = crawls.start("articles", *slow)
        while not is_held():
            assert process.poll() is None
        process.kill()
        process.wait(60)
        crawls.write("urls.json", json.dumps([base + path for path in ALL[6:]]))
        items = crawls.crawl("articles", "-s", "DOWNLOAD_DELAY=0")  # what the first run wrote may come again
    [*_, text] = [item["text"] for item in items if item["url"] == base + STORY[0]]
    assert all(line in text for line in LAST_LINES[:2])


def answer_with_comments(path: str) -> Answer:
    """Answer with the same article on both pages, and other comments."""
    said = f"<p>A comment on page {path[-1]}, of a reader who liked the story a lot.</p>"
    link = '<link rel="next" href="/story?page=2">' if path == "/story" else '<link rel="prev" href="/story">'
    html = article_page(PARTS[0], "https://ledger.example").replace("</p>", f"</p>{said}", 1)
    return Answer(200, HTML, html.replace("</head>", f"{link}</head>").encode())


def test_a_second_page_that_repeats_the_first_is_no_part_of_it(crawls: Project) -> None:
    with serving(answer_with_comments) as served:
        items = crawl(crawls, served.url, STORY[:2])
    assert set(items) == set(STORY[:2])
    assert all(item["text"].count(LAST_LINES[0]) == 1 for item in items.values())
    assert crawls.stats["denoise/parts_apart"] == 1


@pytest.mark.parametrize(
    ("url", "following", "number"),
    [
        ("https://a.example/story", "/story?page=2", 1),
        ("https://a.example/story/", "/story/2", 1),
        ("https://a.example/story.html", "story_2.html", 1),
        ("https://a.example/story/seite-2", "/story/seite-3", 2),
        ("https://a.example/story?id=7&p=3", "?id=7&p=4", 3),
        ("https://a.example/2026/11/24/rain", "/2026/11/25/sun", None),
        ("https://a.example/day-1", "/day-2", None),
        ("https://a.example/story", "https://b.example/story?page=2", None),
        ("https://a.example/story", "/story?page=3", None),
        ("https://a.example/story", "http://[", None),
    ],
)
def test_the_next_part_has_the_same_address_but_for_its_number(
    url: str, following: str, number: int | None
) -> None:
    for link in (
        f'<link href="{following}" rel="Next">',
        f'<body><a rel="nofollow next" href="{following}">on</a>',
    ):
        found = part_of(Page.parse(url, f"<html>{link}"))
        assert (found.number if found else None) == number
