"""The pipelines alone, without the add-on: items carry their page in a field."""

import pytest

from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import ADDON, PIPELINES, SETTINGS, Project
from tests.crawl.test_crawl import (
    assert_one_item_each,
    assert_waited,
    quota,
    urls,
)

BY_PIPELINES = f"{PIPELINES}ITEM_PIPELINES['own_pipeline.SeenPipeline'] = 300\n"
OWN_PIPELINE = """
class SeenPipeline:
    def process_item(self, item):
        item["seen"] = item.get("seen", 0) + 1
        item["html"] = len(item.get("html") or "")
        return item
"""

# Ten items of each page, and a time slice that is over at every third of them.
TEN_OF_A_PAGE = """
import json
import asyncio
import scrapy

class TenSpider(scrapy.Spider):
    name = "ten"

    async def start(self):
        for url in json.load(open("urls.json")):
            yield scrapy.Request(url)

    async def parse(self, response):
        for number in range(10):
            await asyncio.sleep(0)  # so that items of other pages come between
            cannot_wait = {"object": open} if number % 3 == 2 else {}
            yield {"url": response.url, "html": response.text, "number": number, **cannot_wait}


class Recording:
    def process_item(self, item):
        item.pop("object", None)
        return item
"""


@pytest.fixture
def crawls(project: Project, server: DemoServer) -> Project:
    project.write("project_settings.py", SETTINGS + BY_PIPELINES)
    project.write("own_pipeline.py", OWN_PIPELINE)
    project.spider(SPIDER, urls(server))
    return project


@pytest.mark.parametrize("pages", [5, 500])
def test_every_item_comes_out_filled_and_passes_later_pipelines_once(crawls: Project, pages: int) -> None:
    items = crawls.crawl("html", *quota(pages))
    assert_one_item_each(items, 24)
    assert {item["seen"] for item in items} == {1}
    assert "All rights reserved" not in "".join(item["text"] for item in items)
    assert_waited(crawls, min(pages, 24))


@pytest.mark.parametrize("pages", [5, 500])
def test_the_items_of_a_page_keep_their_order_whenever_our_time_is_over(crawls: Project, pages: int) -> None:
    crawls.write("ten.py", TEN_OF_A_PAGE)
    crawls.write("project_settings.py", SETTINGS + BY_PIPELINES + "ITEM_PIPELINES['ten.Recording'] = 400\n")
    numbers: dict[str, list[int]] = {}
    for item in crawls.crawl("ten", *quota(pages), "-s", "SPIDER_MODULES=ten"):
        numbers.setdefault(item["url"], []).append(item["number"])
    assert len(numbers) == 24
    for found in numbers.values():
        assert [number for number in found if number % 3 != 2] == [0, 1, 3, 4, 6, 7, 9]
        assert [number for number in found if number % 3 == 2] == [2, 5, 8]


def test_items_without_html_pass_untouched(crawls: Project) -> None:
    items = crawls.crawl("articles", *quota(5))
    assert len(items) == 24
    assert crawls.stats["denoise/untouched"] == 24
    assert not any("text" in item for item in items)


def test_with_the_add_on_in_force_the_pipelines_let_everything_pass(crawls: Project) -> None:
    crawls.write("project_settings.py", SETTINGS + BY_PIPELINES + ADDON)
    items = crawls.crawl("html", *quota(500))
    assert_one_item_each(items, 24)
    assert {item["seen"] for item in items} == {1}
    assert crawls.stats["denoise/cleaned"] == 24


def test_a_project_with_an_item_processor_of_its_own_keeps_it(crawls: Project) -> None:
    crawls.write(
        "own_processor.py",
        "from scrapy.pipelines import ItemPipelineManager\n\n"
        "class Counting(ItemPipelineManager):\n"
        "    async def process_item_async(self, item):\n"
        "        self.crawler.stats.inc_value('own/processed')\n"
        "        return await super().process_item_async(item)\n",
    )
    own = 'ITEM_PROCESSOR = "own_processor.Counting"\n'
    crawls.write("project_settings.py", SETTINGS + ADDON + own)
    assert_one_item_each(crawls.crawl("articles", *quota(500)), 24)
    assert crawls.stats["own/processed"] == 24
