"""The end of a crawl is decided by all who have a say: what waits goes on when nobody else wants to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.guests.guest_project import ADDON, NOBODY, SPIDER, Guest, addresses
from tests.guests.site import hosts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.loopback import Served

PIPELINES = """
ITEM_PIPELINES = {
    "denoise_crawler.pipelines.StyleTreePipeline": 100,
    "denoise_crawler.pipelines.DenoisePipeline": 200,
}
"""
WITH_HTML = SPIDER.replace('"text": ""', '"text": "", "html": response.text')
MODES = {"add-on": (ADDON, SPIDER), "pipelines": (PIPELINES, WITH_HTML)}

# A pipeline that asks for another page because of each item, as deep as DEEPEST.
ASKING = """
import scrapy

DEEPEST = 3


class Asking:
    def __init__(self, crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def process_item(self, item):
        if item["url"].count("+") < DEEPEST:
            self.crawler.engine.crawl(scrapy.Request(item["url"] + "+"))
        return item
"""

# A handler of spider_idle that keeps the crawl alive for a while and then asks for more, as a shared queue would.
KEEPING = """
import json

import scrapy
from scrapy import signals
from scrapy.exceptions import DontCloseSpider


class Keeping:
    def __init__(self, crawler):
        self.crawler = crawler
        self.idle_times = 0
        crawler.signals.connect(self.idle, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def idle(self):
        self.idle_times += 1
        with open("more.json") as file:
            more = json.load(file)
        if self.idle_times == 3 or SILENT and self.idle_times == 1:
            for url in more:
                self.crawler.engine.crawl(scrapy.Request(url))
        if self.idle_times < 4 and not SILENT:
            self.crawler.engine._slot.nextcall.schedule()
            raise DontCloseSpider
"""


@pytest.fixture(scope="module")
def served() -> Iterator[list[Served]]:
    with hosts(2) as running:
        yield running


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pages", [2, 8])
def test_requests_that_a_pipeline_makes_of_items_that_waited_are_crawled(
    pages: int, mode: str, served: list[Served], tmp_path: Path
) -> None:
    us, spider = MODES[mode]
    settings = 'ITEM_PIPELINES = {**globals().get("ITEM_PIPELINES", {}), "asking.Asking": 500}\n'
    urls = addresses(served[:1], pages)
    without = Guest(tmp_path / "without", NOBODY, spider=spider, settings=settings, asking=ASKING)
    expected = sorted(item["url"] for item in without.run(urls))
    assert len(expected) == 4 * pages
    guest = Guest(tmp_path / "with", us, spider=spider, settings=settings, asking=ASKING)
    items = guest.run(urls)
    assert sorted(item["url"] for item in items) == expected, guest.log
    assert all(item["text"] for item in items)
    assert "ERROR" not in guest.log
    assert guest.stats["finish_reason"] == "finished"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("connected", "silent"),
    [
        pytest.param("by an extension", False, id="an extension raises DontCloseSpider"),
        pytest.param("by an extension", True, id="an extension only asks for more"),
        pytest.param("by the spider", False, id="the spider raises DontCloseSpider"),
    ],
)
def test_items_wait_on_while_another_handler_of_spider_idle_wants_the_crawl_to_live(
    connected: str, silent: bool, mode: str, served: list[Served], tmp_path: Path
) -> None:
    us, spider = MODES[mode]
    settings = 'EXTENSIONS["keeping.Keeping"] = 10\n' if connected == "by an extension" else ""
    if connected == "by the spider":
        spider += """
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        from keeping import Keeping

        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.keeping = Keeping(crawler)
        return spider
"""
    guest = Guest(tmp_path, us, spider=spider, settings=settings, keeping=f"SILENT = {silent}\n{KEEPING}")
    pages = addresses(served[:1], 8)
    guest.write("more.json", f"{pages[4:]}".replace("'", '"'))
    items = guest.run(pages[:4])
    assert sorted(item["url"] for item in items) == pages, guest.log
    assert guest.stats["denoise/sites_ready"] == 1
    assert "denoise/sites_short" not in guest.stats
    assert guest.stats["finish_reason"] == "finished"
    assert "ERROR" not in guest.log


@pytest.mark.parametrize("mode", MODES)
def test_a_handler_that_closes_the_idle_spider_for_a_reason_of_its_own_has_its_reason(
    mode: str, served: list[Served], tmp_path: Path
) -> None:
    us, spider = MODES[mode]
    closing = KEEPING.replace("DontCloseSpider", "CloseSpider").replace(
        "        self.idle_times += 1\n", '        raise CloseSpider("enough")\n'
    )
    settings = 'EXTENSIONS["keeping.Keeping"] = 10\n'
    guest = Guest(tmp_path, us, spider=spider, settings=settings, keeping=f"SILENT = False\n{closing}")
    pages = addresses(served[:1], 4)
    items = guest.run(pages)
    assert sorted(item["url"] for item in items) == pages, guest.log
    assert guest.stats["finish_reason"] == "enough"
