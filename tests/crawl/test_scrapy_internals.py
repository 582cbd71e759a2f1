"""What we read and patch inside Scrapy is there on whichever Scrapy is installed, the oldest ones too."""

import json
import sys
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import scrapy
import scrapy.cmdline
from scrapy.spiders import SitemapSpider
from scrapy.utils.test import get_crawler

from denoise_crawler.crawl.scrapy_internals import (
    code_of_command,
    has_begun,
    ignores_start_requests,
    scheduler_of,
)
from tests.conftest import ROOT, SETTINGS, Project, needs_new_scrapy
from tests.loopback import nothing, serving
from tests.programs import run_python

PROGRAM = """
import asyncio
import json
import sys

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import DontCloseSpider
from scrapy.exporters import CsvItemExporter
from scrapy.pipelines.files import FilesPipeline
from scrapy.utils.asyncio import call_later

from denoise_crawler.crawl import scrapy_internals as internals

SITE, WITH_FILES = sys.argv[1], sys.argv[2] == "files"
seen = {"items": [], "exporters": []}


class Exporter(CsvItemExporter):
    def start_exporting(self):
        seen["exporters"].append("ours")
        super().start_exporting()


class Pipeline:
    def process_item(self, item):
        seen["items"].append(item["n"])
        return item


class Probe(scrapy.Spider):
    name = "probe"
    woken = False

    @classmethod
    def from_crawler(cls, crawler):
        spider = super().from_crawler(crawler)
        crawler.signals.connect(spider.opened, signals.spider_opened)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def opened(self):
        self.close_before = internals.replace_close(self.crawler, self.close_ours)
        internals.replace_exporter(self.crawler, "csv", new=Exporter, old=CsvItemExporter)

    async def start(self):
        yield scrapy.Request(SITE + "one")

    async def close_ours(self, **named):
        crawler = self.crawler
        seen["closed by"] = named["reason"]
        seen["before it is closed"] = [internals.is_closing(crawler), internals.is_stopping(crawler)]
        request = internals.RequestInProgress(crawler)
        closed = asyncio.ensure_future(self.close_before(**named))
        await asyncio.sleep(0.2)
        seen["while it is closed"] = [internals.is_closing(crawler), internals.is_stopping(crawler)]
        seen["open with a request"], seen["last"] = internals.has_begun(crawler), request.is_last()
        request.end()
        await closed
        seen["begun after"] = internals.has_begun(self.crawler)

    async def parse(self, response):
        crawler = self.crawler
        seen["begun"] = internals.has_begun(crawler)
        seen["in progress"] = internals.requests_in_progress(crawler)
        seen["in a callback"] = [internals.is_closing(crawler), internals.is_stopping(crawler)]
        seen["has files"] = internals.has_media_pipeline(crawler)
        await internals.SentItems(crawler).send({"n": 1}, response)
        slot = crawler.engine.downloader.slots["127.0.0.1"]
        seen["seconds since a request"] = internals.slot_clock() - slot.lastseen
        yield {"n": 2}
        yield scrapy.Request(SITE + "two", callback=self.second)

    def second(self, response):
        yield {"n": 3}

    def idle(self):
        crawler, engine = self.crawler, self.crawler.engine
        if self.woken:
            return
        if "idle" in seen:
            raise DontCloseSpider
        seen["idle"] = engine.spider_is_idle()
        with internals.kept_open(crawler):
            seen["idle while kept open"] = engine.spider_is_idle()
        seen["idle again"] = engine.spider_is_idle()
        request = internals.RequestInProgress(crawler)
        with internals.kept_open(crawler):
            seen["last while a callback runs"] = request.is_last()
        request.end()
        engine._slot.heartbeat.stop()  # which would ask the scheduler some seconds later
        call_later(0.5, self.go_on)
        raise DontCloseSpider

    def go_on(self):
        scheduler = internals.scheduler_of(self.crawler)
        scheduler.enqueue_request(scrapy.Request(SITE + "six", callback=self.second))
        self.woken = True
        internals.wake(self.crawler)


settings = {"LOG_LEVEL": "ERROR", "FEEDS": {"out.csv": {"format": "csv"}}, "TELNETCONSOLE_ENABLED": False}
settings |= {"FILES_STORE": "files"}
settings["ITEM_PIPELINES"] = {Pipeline: 1} | ({FilesPipeline: 2} if WITH_FILES else {})
process = CrawlerProcess(settings)
process.crawl(Probe)
internals.raise_after_start(process, RuntimeError("at the end"))
try:
    process.start()
except RuntimeError as error:
    seen["raised"] = str(error)
print(json.dumps(seen))
"""


def crawled(folder: Path, pipelines: str) -> dict[str, Any]:
    (folder / "program.py").write_text(PROGRAM)
    with serving(nothing) as site:
        done = run_python("program.py", f"{site.url}/", pipelines, folder=folder, code=None)
        assert done.stderr == ""
        return {**json.loads(done.stdout), "asked": list(site.asked)}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a crawl saw that uses all our ways into Scrapy."""
    return crawled(tmp_path_factory.mktemp("probe"), "files")


def test_a_crawl_has_begun_while_its_spider_is_open(seen: dict[str, Any]) -> None:
    assert (seen["begun"], seen["begun after"]) == (True, False)


def test_a_crawl_is_ending_once_its_spider_is_being_closed(seen: dict[str, Any]) -> None:
    assert seen["in a callback"] == seen["before it is closed"] == [False, False]
    assert seen["while it is closed"] == [True, True]


def test_the_spider_is_not_idle_while_we_keep_it_open(seen: dict[str, Any]) -> None:
    assert (seen["idle"], seen["idle while kept open"], seen["idle again"]) == (True, False, True)


def test_a_request_in_progress_keeps_the_spider_open_and_knows_when_it_is_the_last(seen: dict[str, Any]) -> None:
    assert (seen["open with a request"], seen["last"], seen["last while a callback runs"]) == (True, True, False)


def test_an_engine_that_is_woken_asks_the_scheduler(seen: dict[str, Any]) -> None:
    assert any(path.endswith("six") for path in seen["asked"])


def test_the_engine_closes_its_spider_by_what_we_put_there(seen: dict[str, Any]) -> None:
    assert seen["closed by"] == "finished"


def test_a_request_is_in_progress_until_its_callback_ends(seen: dict[str, Any]) -> None:
    assert seen["in progress"] == 1


def test_an_item_goes_through_the_pipelines_like_one_of_the_spider(seen: dict[str, Any]) -> None:
    assert seen["items"] == [1, 2, 3, 3]


def test_a_pipeline_that_downloads_files_is_found(seen: dict[str, Any], tmp_path: Path) -> None:
    assert seen["has files"] is True
    assert crawled(tmp_path, "none")["has files"] is False


def test_a_feed_is_written_by_our_exporter(seen: dict[str, Any]) -> None:
    assert seen["exporters"] == ["ours"]


def test_a_program_gets_our_error_when_its_crawls_have_ended(seen: dict[str, Any]) -> None:
    assert (seen["raised"], seen["closed by"]) == ("at the end", "finished")


def test_the_clock_of_slots_is_the_one_that_scrapy_reads(seen: dict[str, Any]) -> None:
    assert 0 <= seen["seconds since a request"] < 600


def test_a_crawl_that_has_not_begun_has_no_scheduler() -> None:
    crawler = get_crawler()
    crawler.engine = crawler._create_engine()
    assert scheduler_of(crawler) is None
    assert not has_begun(crawler)


def test_the_code_of_the_command_is_known_once_somebody_has_imported_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert code_of_command() is scrapy.cmdline.execute.__code__
    monkeypatch.delitem(sys.modules, "scrapy.cmdline")
    assert code_of_command() is None


CALLS_START_REQUESTS = scrapy.version_info[:2] < (2, 16)
STARTS = """
import scrapy


class OldSpider(scrapy.Spider):
    name = "old"

    def start_requests(self):
        yield scrapy.Request("data:text/html,<p>One story of the harbour.")

    def parse(self, response):
        yield {"url": response.url}


class BothSpider(OldSpider):
    name = "both"

    async def start(self):
        for request in self.start_requests():
            yield request
"""


class Old(scrapy.Spider):
    name = "old"

    def start_requests(self):
        """Start as before Scrapy 2.13."""


class Both(Old):
    async def start(self):
        """Start as today."""
        yield {}


class OldAgain(Both):
    def start_requests(self):
        """Start as before Scrapy 2.13."""


class OldSitemap(SitemapSpider):
    def start_requests(self):
        """Start as before Scrapy 2.13."""


@pytest.mark.parametrize(
    ("spider", "ignored"),
    [
        (scrapy.Spider, False),
        (SitemapSpider, False),
        (Old, True),
        (Both, False),
        (OldAgain, True),
        (OldSitemap, True),
    ],
)
def test_a_start_is_ignored_where_start_requests_is_the_newer_one_and_scrapy_never_calls_it(
    spider: type[scrapy.Spider], ignored: bool
) -> None:
    assert ignores_start_requests(spider) == (ignored and not CALLS_START_REQUESTS)


def test_a_spider_that_starts_by_start_requests_crawls_or_is_warned_of(project: Project) -> None:
    project.write("test_spiders.py", STARTS)
    items = project.crawl("old")
    warned = "OldSpider starts by start_requests, which Scrapy" in project.log
    assert (len(items), warned) == ((1, False) if CALLS_START_REQUESTS else (0, True))
    assert all(item["text"] == "One story of the harbour." for item in items)
    assert len(project.crawl("both", feed="both.jsonl")) == 1
    assert "starts by start_requests" not in project.log


RENDERING = "denoise_crawler.contrib.rendering"


@pytest.mark.skipif(scrapy.version_info[:2] >= (2, 18), reason="this Scrapy has what they need")
@pytest.mark.parametrize(
    ("spider", "part", "settings"),
    [
        ("both", RENDERING, f'ADDONS = {{"{RENDERING}.Rendering": 320}}'),
        ("site", "the spider site", ""),
        ("msn_news", "the spider msn_news", ""),
    ],
)
def test_on_an_older_scrapy_what_needs_a_newer_one_says_so_and_nothing_is_crawled(
    project: Project, spider: str, part: str, settings: str
) -> None:
    project.write("test_spiders.py", STARTS)
    project.write("project_settings.py", f"{SETTINGS}\n{settings}\n")
    with serving(nothing) as site:
        process = project.start(spider, *(("-a", f"start_url={site.url}/") if spider != "both" else ()))
        assert project.ended(process) == []
    assert process.returncode == 1
    assert "Traceback" not in project.log
    assert project.log.strip().splitlines()[-1].startswith(f"The crawl cannot begin: {part} needs Scrapy 2.18 ")
    assert site.asked == []


@needs_new_scrapy
def test_what_needs_a_newer_scrapy_begins_on_this_one(project: Project) -> None:
    with serving(nothing) as site:
        project.crawl("site", "-a", f"start_url={site.url}/")
    assert site.asked


def test_the_package_asks_for_no_newer_scrapy_than_the_oldest_that_is_tested() -> None:
    oldest = (ROOT / "Makefile").read_text().partition("OLDER := ")[2].split()[0]
    assert f"scrapy>={oldest}" in (requires("denoise-crawler") or [])
