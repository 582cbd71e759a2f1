"""How long items wait, while the crawl is alive and at its end, which all decide who have a say."""

import signal
from pathlib import Path

import pytest

from tests.guests.guest_project import ADDON, NOBODY, PIPELINES, SPIDER, Guest, addresses, signal_after
from tests.loopback import Served

WITH_HTML = SPIDER.replace('"text": ""', '"text": "", "html": response.text')
MODES = {"add-on": (ADDON, SPIDER), "pipelines": (PIPELINES, WITH_HTML)}
# The spider gives its last page only when an item has come out; after PATIENCE seconds it gives up.
WAITING = """
    async def start(self):
        import asyncio
        from scrapy import signals

        self.out = 0
        self.crawler.signals.connect(self.came_out, signals.item_scraped)
        with open("urls.json") as file:
            *urls, last = json.load(file)
        for url in urls:
            yield scrapy.Request(url)
        for _ in range(PATIENCE * 20):
            if self.out == len(urls):
                yield scrapy.Request(last)
                return
            await asyncio.sleep(0.05)

    def came_out(self, item):
        self.out += 1
"""
ONE_BY_ONE = (
    "-s",
    "CONCURRENT_REQUESTS=1",
    "-s",
    "CONCURRENT_REQUESTS_PER_DOMAIN=1",
    "-s",
    "DENOISE_WARMUP_PAGES=500",
)


def waiting_spider(mode: str, patience: int) -> str:
    _, spider = MODES[mode]
    start = spider.index("    async def start")
    return (
        spider[:start]
        + WAITING.replace("PATIENCE", str(patience))
        + "\n"
        + spider[spider.index("    def parse") :]
    )


@pytest.mark.parametrize("mode", MODES)
def test_items_go_on_when_the_time_is_over_though_no_other_page_comes(
    mode: str, two_hosts: list[Served], tmp_path: Path
) -> None:
    guest = Guest(tmp_path, MODES[mode][0], spider=waiting_spider(mode, 60))
    pages = addresses(two_hosts[:1], 4)
    items = guest.run(pages, "-s", "DENOISE_WARMUP_SECONDS=0.5", "-s", "DENOISE_WARMUP_PAGES=500")
    assert sorted(item["url"] for item in items) == pages, guest.log
    assert items[-1]["url"] == pages[-1]
    assert all(item["text"] for item in items)
    assert "items go on after 0.5 seconds without a new page, with what is known of it" in guest.log
    assert guest.stats["denoise/sites_overdue"] == 1
    assert "; 1 site went on before enough was known" in guest.log
    assert guest.stats["denoise/parked"] == 3  # of a site whose time is over nothing waits
    assert guest.stats["finish_reason"] == "finished"
    assert "ERROR" not in guest.log


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        pytest.param(("-s", "DENOISE_WARMUP_SECONDS=0"), 3, id="without a time"),
        pytest.param(("-s", "DENOISE_WARMUP_SECONDS=0.1", "-s", "DENOISE_SHORT_SITES=drop"), 0, id="drop"),
    ],
)
def test_items_wait_for_the_end_where_no_time_is_set_or_short_sites_are_not_cleaned(
    settings: tuple[str, ...], left: int, two_hosts: list[Served], tmp_path: Path
) -> None:
    guest = Guest(tmp_path, ADDON, spider=waiting_spider("add-on", 3))
    pages = addresses(two_hosts[:1], 4)
    items = guest.run(pages, *settings, "-s", "DENOISE_WARMUP_PAGES=500")
    assert sorted(item["url"] for item in items) == pages[:left], guest.log
    assert "go on after" not in guest.log
    assert guest.stats["denoise/sites_short"] == 1


def test_the_time_of_each_site_begins_with_its_own_first_page(two_hosts: list[Served], tmp_path: Path) -> None:
    guest = Guest(tmp_path, ADDON, spider=waiting_spider("add-on", 60))
    pages = [*addresses(two_hosts[:1], 2), addresses(two_hosts[1:], 1)[0]]
    items = guest.run(pages, "-s", "DENOISE_WARMUP_SECONDS=1", "-s", "DENOISE_WARMUP_PAGES=500")
    assert len(items) == 3, guest.log
    assert guest.log.count("go on after 1 seconds") == 1
    assert guest.stats["denoise/parked"] == 3  # the last one for the end of the crawl, as its site is new


@pytest.mark.parametrize("mode", MODES)
def test_each_new_page_of_a_site_gives_it_more_time(mode: str, two_hosts: list[Served], tmp_path: Path) -> None:
    us, spider = MODES[mode]
    guest = Guest(tmp_path, us, spider=spider)
    pages = addresses(two_hosts[:1], 8)
    slow = ("-s", "DOWNLOAD_DELAY=0.8", "-s", "DENOISE_WARMUP_SECONDS=4", "-s", "CONCURRENT_REQUESTS=1")
    items = guest.run(pages, *slow, "-s", "DENOISE_WARMUP_PAGES=8")
    assert sorted(item["url"] for item in items) == pages, guest.log
    assert "is known after 8 pages; 7 items that waited go on" in guest.log
    assert "denoise/sites_overdue" not in guest.stats
    assert "went on before" not in guest.log


def test_the_time_of_items_that_an_earlier_run_left_begins_with_the_run_that_takes_them(
    two_hosts: list[Served], tmp_path: Path
) -> None:
    guest = Guest(tmp_path, ADDON, spider=waiting_spider("add-on", 60), settings='JOBDIR = "job"\n')
    pages = addresses(two_hosts[:1], 4)
    guest.run(pages, "-s", "DENOISE_WARMUP_PAGES=500", *signal_after(3, signal.SIGKILL))
    items = guest.run(pages, "-s", "DENOISE_WARMUP_SECONDS=1", "-s", "DENOISE_WARMUP_PAGES=500")
    assert sorted({item["url"] for item in items}) == pages, guest.log
    assert "items go on after 1 seconds without a new page" in guest.log
    assert guest.stats["finish_reason"] == "finished"


@pytest.mark.parametrize("mode", MODES)
def test_what_waits_counts_as_life_for_closespider_timeout_no_item(
    mode: str, two_hosts: list[Served], tmp_path: Path
) -> None:
    us, spider = MODES[mode]
    guest = Guest(tmp_path, us, spider=spider)
    pages = addresses(two_hosts[:1], 12)
    slow = ("-s", "DOWNLOAD_DELAY=0.6", "-s", "DENOISE_WARMUP_SECONDS=0", "-s", "CLOSESPIDER_TIMEOUT_NO_ITEM=3")
    items = guest.run(pages, *ONE_BY_ONE, *slow)
    assert sorted(item["url"] for item in items) == sorted(pages), guest.log
    assert guest.stats["finish_reason"] == "finished"
    assert guest.stats["denoise/replayed"] == 12


def test_a_crawl_of_which_no_item_comes_any_more_is_ended_and_what_waits_comes_out(
    two_hosts: list[Served], tmp_path: Path
) -> None:
    guest = Guest(tmp_path, ADDON, spider=waiting_spider("add-on", 60))
    pages = addresses(two_hosts[:1], 4)
    settings = ("-s", "DENOISE_WARMUP_SECONDS=0", "-s", "CLOSESPIDER_TIMEOUT_NO_ITEM=2")
    items = guest.run(pages, *settings)
    assert sorted(item["url"] for item in items) == pages[:3], guest.log
    assert guest.stats["finish_reason"] == "closespider_timeout_no_item"


@pytest.mark.parametrize("mode", MODES)
def test_closespider_itemcount_counts_what_waits(mode: str, two_hosts: list[Served], tmp_path: Path) -> None:
    us, spider = MODES[mode]
    pages = addresses(two_hosts[:1], 40)
    ending = (*ONE_BY_ONE, "-s", "DOWNLOAD_DELAY=0.05", "-s", "CLOSESPIDER_ITEMCOUNT=5")
    without = Guest(tmp_path / "without", NOBODY, spider=spider).run(pages, *ending)
    guest = Guest(tmp_path / "with", us, spider=spider)
    items = guest.run(pages, *ending)
    assert guest.stats["finish_reason"] == "closespider_itemcount", guest.log
    assert 5 <= len(items) <= len(without) + 2 < 40
    assert all(item["text"] for item in items)


def test_closespider_pagecount_no_item_counts_what_waits(two_hosts: list[Served], tmp_path: Path) -> None:
    guest = Guest(tmp_path, ADDON)
    pages = addresses(two_hosts[:1], 20)
    items = guest.run(pages, *ONE_BY_ONE, "-s", "DOWNLOAD_DELAY=0.1", "-s", "CLOSESPIDER_PAGECOUNT_NO_ITEM=6")
    assert sorted(item["url"] for item in items) == sorted(pages), guest.log
    assert guest.stats["finish_reason"] == "finished"


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


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pages", [2, 8])
def test_requests_that_a_pipeline_makes_of_items_that_waited_are_crawled(
    pages: int, mode: str, two_hosts: list[Served], tmp_path: Path
) -> None:
    us, spider = MODES[mode]
    settings = 'ITEM_PIPELINES = {**globals().get("ITEM_PIPELINES", {}), "asking.Asking": 500}\n'
    urls = addresses(two_hosts[:1], pages)
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
    connected: str, silent: bool, mode: str, two_hosts: list[Served], tmp_path: Path
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
    pages = addresses(two_hosts[:1], 8)
    guest.write("more.json", f"{pages[4:]}".replace("'", '"'))
    items = guest.run(pages[:4])
    assert sorted(item["url"] for item in items) == pages, guest.log
    assert guest.stats["denoise/sites_ready"] == 1
    assert "denoise/sites_short" not in guest.stats
    assert guest.stats["finish_reason"] == "finished"
    assert "ERROR" not in guest.log


@pytest.mark.parametrize("mode", MODES)
def test_a_handler_that_closes_the_idle_spider_for_a_reason_of_its_own_has_its_reason(
    mode: str, two_hosts: list[Served], tmp_path: Path
) -> None:
    us, spider = MODES[mode]
    closing = KEEPING.replace("DontCloseSpider", "CloseSpider").replace(
        "        self.idle_times += 1\n", '        raise CloseSpider("enough")\n'
    )
    settings = 'EXTENSIONS["keeping.Keeping"] = 10\n'
    guest = Guest(tmp_path, us, spider=spider, settings=settings, keeping=f"SILENT = False\n{closing}")
    pages = addresses(two_hosts[:1], 4)
    items = guest.run(pages)
    assert sorted(item["url"] for item in items) == pages, guest.log
    assert guest.stats["finish_reason"] == "enough"
