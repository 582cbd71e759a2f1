"""No item overtakes another: pipelines whose rows refer to one another lose nothing that they keep without us."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.guests.guest_project import ADDON, PIPELINES, Guest, addresses
from tests.loopback import Served

PAGES = 12
SPIDER = """
import json

import scrapy


class Article(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()


class Comment(scrapy.Item):
    article = scrapy.Field()
    number = scrapy.Field()


class CommentWithText(Comment):
    text = scrapy.Field()


class Strange(Comment):
    lock = scrapy.Field()


class PagesSpider(scrapy.Spider):
    name = "pages"
    custom_settings = {"CONCURRENT_REQUESTS": 1}

    async def start(self):
        with open("urls.json") as file:
            for url in json.load(file):
                yield scrapy.Request(url)

    def parse(self, response):
        yield Article(url=response.url, html=response.text)
        for number in range(3):
            yield COMMENT
"""
COMMENTS = {
    "without a field for the text": "Comment(article=response.url, number=number)",
    "with a text of their own": 'CommentWithText(article=response.url, number=number, text="well")',
    "of a class that is skipped": "CommentWithText(article=response.url, number=number)",
    "one of which cannot wait": (
        "Strange(article=response.url, number=number, lock=lambda: 0) if number == 1 else "
        "Comment(article=response.url, number=number)"
    ),
}
SKIPPED = 'DENOISE_SKIP_ITEMS = ["test_spiders.CommentWithText"]\n'
# Authors and then their books, on pages of one site; a book is asked for by the page of its author.
BOOKS = """
import json

import scrapy


class PagesSpider(scrapy.Spider):
    name = "pages"

    async def start(self):
        with open("urls.json") as file:
            self.urls = json.load(file)
        for number in range(2):
            yield scrapy.Request(self.urls[number], cb_kwargs={"number": number})

    def parse(self, response, number):
        yield {"url": response.url, "html": response.text}
        for place in range(4):
            url = self.urls[2 + 4 * number + place]
            yield scrapy.Request(url, self.parse_book, cb_kwargs={"author": response.url})

    def parse_book(self, response, author):
        yield {"article": author, "number": 0, "html": response.text, "url": response.url}
"""
# The comments of an article are on a page without HTML, which is asked for when the article has come.
JSON_COMMENTS = SPIDER.replace(
    """        for number in range(3):
            yield COMMENT
""",
    """        yield response.follow("/extra/" + response.url.rpartition("/")[2], self.parse_comments)

    def parse_comments(self, response):
        for number in range(3):
            yield Comment(article=response.url.replace("/extra/", "/page/"), number=number)
""",
)
TABLES = """
import asyncio
import sqlite3


class Tables:
    def open_spider(self):
        self.db = sqlite3.connect("tables.sqlite", isolation_level=None)
        self.db.executescript(
            "PRAGMA foreign_keys = ON; CREATE TABLE article (url TEXT PRIMARY KEY);"
            "CREATE TABLE comment (article TEXT NOT NULL REFERENCES article (url), number INTEGER);"
        )

    def close_spider(self):
        self.db.close()

    def process_item(self, item):
        item.pop("lock", None)
        if "article" in item:
            self.db.execute("INSERT INTO comment VALUES (?, ?)", (item["article"], item["number"]))
        else:
            self.db.execute("INSERT INTO article VALUES (?)", (item["url"],))
        return item


class SlowTables(Tables):
    async def process_item(self, item):
        if "article" not in item:
            await asyncio.sleep(0.05)
        return super().process_item(item)
"""


def rows_of(
    folder: Path, us: str, spider: str, urls: list[str], *, pipeline: str = "Tables", settings: str = ""
) -> tuple[int, int]:
    """Crawl, and return how many articles and comments are in the tables of the pipeline."""
    pipelines = f'ITEM_PIPELINES = {{**globals().get("ITEM_PIPELINES", {{}}), "tables.{pipeline}": 500}}\n'
    guest = Guest(folder, us, spider=spider, settings=pipelines + settings, tables=TABLES)
    guest.run(urls)
    assert "Traceback" not in guest.log, guest.log
    with closing(sqlite3.connect(folder / "tables.sqlite")) as db:
        query = "SELECT (SELECT count(*) FROM article), (SELECT count(*) FROM comment)"
        articles, comments = db.execute(query).fetchone()
    return articles, comments


@pytest.mark.parametrize("comments", COMMENTS)
@pytest.mark.parametrize("us", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_what_belongs_to_an_article_never_comes_before_it(
    us: str, comments: str, one_host: list[Served], tmp_path: Path
) -> None:
    spider = SPIDER.replace("COMMENT", COMMENTS[comments])
    skipped = SKIPPED if "skipped" in comments else ""
    assert rows_of(tmp_path, us, spider, addresses(one_host, PAGES), settings=skipped) == (PAGES, 3 * PAGES)


@pytest.mark.parametrize("us", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_the_items_of_a_page_wait_until_slow_pipelines_are_done_with_the_page_before(
    us: str, one_host: list[Served], tmp_path: Path
) -> None:
    urls = addresses(one_host, 10)
    assert rows_of(tmp_path, us, BOOKS, urls, pipeline="SlowTables") == (2, 8)


def test_items_of_a_page_without_html_have_their_turn_behind_those_of_their_site(
    one_host: list[Served], tmp_path: Path
) -> None:
    urls = addresses(one_host, 4)
    assert rows_of(tmp_path, ADDON, JSON_COMMENTS, urls) == (4, 12)


@pytest.mark.parametrize("us", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_at_the_end_of_a_crawl_items_come_as_they_came_over_all_sites(
    us: str, two_hosts: list[Served], tmp_path: Path
) -> None:
    first, second = (addresses([host], 4) for host in two_hosts)
    urls = [url for pair in zip(first, second, strict=True) for url in pair]
    guest = Guest(tmp_path, us, spider=SPIDER.replace("COMMENT", COMMENTS["without a field for the text"]))
    items = guest.run(urls)
    assert [item["url"] for item in items if "url" in item] == urls


def test_what_cannot_be_had_is_had_where_nothing_waits(two_hosts: list[Served], tmp_path: Path) -> None:
    """A site that is known early goes before one that still waits; DENOISE_WARMUP_PAGES = 0 is the cure."""
    articles, comments = addresses(two_hosts[:1], 2), addresses(two_hosts[1:], 8)
    settings = "DENOISE_WARMUP_PAGES = 0\n"
    assert rows_of(tmp_path, ADDON, BOOKS, [*articles, *comments], settings=settings) == (2, 8)
