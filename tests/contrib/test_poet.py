import pytest

pytest.importorskip("scrapy_poet", reason="scrapy-poet is not installed")

from web_poet.serialization import deserialize_leaf, serialize_leaf

from denoise_crawler.contrib.poet import CleanText
from examples.demo_site.replies import article_path, articles
from examples.demo_site.server import DemoServer
from tests.conftest import Project

POET = """
SCRAPY_POET_PROVIDERS = {"denoise_crawler.contrib.poet.CleanTextProvider": 500}
SCRAPY_POET_DISCOVER = []
"""
SPIDER = """
import json

import attrs
import scrapy
from scrapy_poet import callback_for
from web_poet import WebPage, field, handle_urls

from denoise_crawler.contrib.poet import CleanText


@attrs.define
class Story:
    headline: str
    text: str
    author: str
    warm: bool


@attrs.define
class StoryPage(WebPage[Story]):
    clean: CleanText

    @field
    def headline(self):
        return self.css("h1::text").get()

    @field
    def text(self):
        return str(self.clean)

    @field
    def author(self):
        return self.clean.author

    @field
    def warm(self):
        return self.clean.warm


class StoriesSpider(scrapy.Spider):
    name = "stories"
    custom_settings = {"CONCURRENT_REQUESTS": 1, "DOWNLOAD_DELAY": 0.01}

    async def start(self):
        with open("urls.json") as file:
            for url in json.load(file):
                yield scrapy.Request(url, self.parse_story)

    async def parse_story(self, response, page: StoryPage):
        yield await page.to_item()


class CallbackSpider(StoriesSpider):
    name = "callback"

    def parse_story(self, response, clean: CleanText):
        yield {"url": clean.url, "clean": clean.text, "page_text": ""}
"""


@pytest.fixture
def poet_project(project: Project, server: DemoServer) -> Project:
    settings = (project.folder / "project_settings.py").read_text()
    settings = settings.replace("ADDONS = {", 'ADDONS = {"scrapy_poet.Addon": 200, ')
    project.write("project_settings.py", settings + POET)
    project.write("test_spiders.py", SPIDER)
    urls = [server.url + article_path(article) for article in articles()[:8]] + [server.url + "/robots.txt"]
    project.write("urls.json", str(urls).replace("'", '"'))
    return project


def without_our_addon(project: Project) -> None:
    settings = (project.folder / "project_settings.py").read_text()
    project.write("project_settings.py", settings.replace('"denoise_crawler.Addon": 300', ""))


def test_a_page_object_gets_the_clean_text_of_its_page_and_the_next_crawl_knows_the_site(
    poet_project: Project,
) -> None:
    without_our_addon(poet_project)
    items = poet_project.crawl("stories", "-s", "DENOISE_WARMUP_PAGES=4")
    stories = [item for item in items if item["text"]]
    assert len(stories) == 8
    for story in stories:
        paragraph = (
            next(article for article in articles() if article.title == story["headline"]).paragraphs[0].lines[0]
        )
        assert paragraph in story["text"]
        assert "All rights reserved" not in story["text"]
    assert any(story["author"] for story in stories)
    assert [story["warm"] for story in stories] == [False] * 3 + [True] * 5
    assert poet_project.stats["denoise/pages"] == 8
    assert poet_project.stats["denoise/untouched"] == 1
    again = poet_project.crawl("stories", "-s", "DENOISE_WARMUP_PAGES=4", feed="again.jsonl")
    assert all(story["warm"] for story in again if story["text"])


def test_beside_the_addon_each_page_is_learned_once_and_items_wait_as_ever(poet_project: Project) -> None:
    items = poet_project.crawl("callback", "-s", "DENOISE_WARMUP_PAGES=4", "-s", "DENOISE_TEXT_FIELD=page_text")
    assert poet_project.stats["denoise/pages"] == 8
    assert poet_project.stats["denoise/parked"] >= 3
    assert all(item["page_text"] for item in items if item["clean"])
    assert sum(not item["clean"] for item in items) == 1


def test_a_page_input_can_be_kept_as_a_fixture() -> None:
    clean = CleanText(url="https://example.com/", text="文 words", noise_ratio=0.25, explanation=[])
    assert deserialize_leaf(CleanText, serialize_leaf(clean)) == clean
    assert str(clean) == "文 words"
