"""Pages that worker processes learn and clean."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from scrapy.utils.test import get_crawler

from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.workers_cleaner import WorkersCleaner
from denoise_crawler.demo.server import DemoServer
from denoise_crawler.denoiser import Cleaning, Denoiser
from denoise_crawler.errors import (
    AskAgainError,
    PartError,
    SettingError,
    WorkerError,
)
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from tests.article_spider import SPIDER
from tests.crawl.test_redesign import NEW, OLD, pages
from tests.faults.crawls import PAGES, Crawls

needs_signals = pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")


@asynccontextmanager
async def workers(
    number: int = 1,
    *,
    writing: Writing | None = None,
    known: InMemoryKnowledge | None = None,
    seconds: float = 30.0,
    **options: object,
) -> AsyncIterator[WorkersCleaner]:
    job = Cleaning(MethodChoice("fusion", options), writing or Writing(), warmup_pages=6)
    counts = CrawlReport(get_crawler())
    cleaner = WorkersCleaner(job, number, seconds, None, InMemoryKnowledge() if known is None else known, counts)
    try:
        yield cleaner
    finally:
        await cleaner.close()


def harmful(word: str) -> Page:
    return Page.parse(f"https://example.com/{word}", "<p>A page of few words, of which nobody can be sure.")


async def text_of(cleaner: WorkersCleaner, page: Page) -> Any:
    while True:
        with suppress(AskAgainError):
            return (await cleaner.clean(page, warm=True)).clean_page.text


async def test_workers_learn_and_clean_pages_as_a_denoiser_does() -> None:
    found = [page for site in ("one.example", "two.example", "three.example") for page in pages(OLD, 7, site)]
    denoiser = Denoiser("fusion")
    for page in found:
        denoiser.learn(page)
    expected = [denoiser.clean(page).clean_page for page in found]
    async with workers(2) as cleaner:
        learned = await asyncio.gather(*(cleaner.learn(page, ready=False) for page in found))
        assert all(one.new and not one.skipped for one in learned)
        cleaned = await asyncio.gather(*(cleaner.clean(page, warm=True) for page in found))
        assert [one.clean_page for one in cleaned] == expected


async def test_a_page_without_anything_to_read_is_not_learned_and_said_to_be_empty() -> None:
    async with workers() as cleaner:
        assert (await cleaner.learn(Page.parse("https://example.com/", ""), ready=False)).skipped == "empty"
        assert await cleaner.skipped(harmful("sound")) is None


async def test_what_is_known_of_a_site_comes_from_the_crawl_and_goes_back_to_it() -> None:
    known, found = InMemoryKnowledge(), pages(OLD, 8)
    async with workers(known=known) as first:
        for page in found[:6]:
            await first.learn(page, ready=False)
        assert known == {}
        await first.save("example.com")
        assert first.pages_known("example.com") == 6
    async with workers(known=known) as second:
        assert not (await second.learn(found[0], ready=False)).new
        assert (await second.learn(found[7], ready=False)).new
        assert second.view(found[1]).clean_page.text == await text_of(second, found[1])


async def test_a_redesign_is_noticed_in_a_worker() -> None:
    async with workers() as cleaner:
        for page in pages(OLD, 12):
            await cleaner.learn(page, ready=False)
        layouts = [(await cleaner.learn(page, ready=True)).layout for page in pages(NEW, 6)]
        assert layouts == [None] * 5 + ["example.com (2)"]


async def test_a_part_of_a_page_is_written_also_when_the_worker_no_longer_has_the_page() -> None:
    page = Page.parse("https://example.com/", "<p>One story.</p><div id=a><p>Another story.</p></div>")
    async with workers() as cleaner:
        cleaned = await cleaner.clean(page, warm=True)
        for number in range(70):
            await cleaner.skipped(harmful(str(number)))
        assert (await cleaner.part(cleaned, "#a")).text == "Another story."
        with pytest.raises(PartError, match="#b"):
            await cleaner.part(cleaned, "#b")


async def test_an_option_that_another_process_cannot_get_is_refused() -> None:
    job = Cleaning(MethodChoice(), Writing(extractor_options={"made": lambda: None}), warmup_pages=6)
    with pytest.raises(SettingError, match="DENOISE_WORKERS is set, but an option cannot be given"):
        WorkersCleaner(job, 1, 1.0, None, InMemoryKnowledge(), CrawlReport(get_crawler()))


async def test_where_no_process_can_be_started_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("denoise_crawler.workers.process.get_executable", lambda: b"/nowhere/python")
    async with workers() as cleaner:
        with pytest.raises(WorkerError, match=r"no worker process can be started: .*/nowhere/python"):
            await cleaner.start()


async def test_lines_of_the_log_reach_the_log_of_the_crawl(caplog: pytest.LogCaptureFixture) -> None:
    broken = InMemoryKnowledge({"example.com": b"no evidence"})
    with caplog.at_level(logging.WARNING):
        async with workers(known=broken) as cleaner:
            await cleaner.learn(pages(OLD, 1)[0], ready=False)
    assert "What was known of example.com cannot be read and is left out" in caplog.text


WORKERS = "DENOISE_WORKERS = 1\nDENOISE_PAGE_SECONDS = 2\n"
MANY_ITEMS = SPIDER.replace(
    'yield {"url": response.url}\n\n\nclass HtmlSpider',
    'for number in range(14):\n            yield {"url": f"{response.url}#{number}"}\n\n\nclass HtmlSpider',
)
STOPPED_AND_KILLED = """
import asyncio
import os
import signal
from scrapy import signals
from denoise_crawler.crawl.item_fate import ItemFate


class Killing:
    @classmethod
    def from_crawler(cls, crawler):
        extension = cls()
        extension.crawler = crawler
        crawler.signals.connect(extension.opened, signals.spider_opened)
        return extension

    def opened(self):
        self.watching = asyncio.ensure_future(self.watch())

    async def watch(self):
        while self.crawler.stats.get_value("denoise/pages", 0) < PAGES:
            await asyncio.sleep(0.001)
        worker = ItemFate.of(self.crawler).sites.cleaner._workers[0]
        worker._process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(0.1)  # what it had answered before is heard
        while not worker._waiting:  # until it has a page in hand
            await asyncio.sleep(0.001)
        worker._process.kill()
"""


@needs_signals
@pytest.mark.parametrize("pages", [4, 12])
def test_a_page_whose_worker_is_killed_from_outside_is_handed_over_again(
    pages: int, tmp_path: Path, server: DemoServer
) -> None:
    settings = WORKERS.replace("SECONDS = 2", "SECONDS = 30") + 'EXTENSIONS["killing.Killing"] = 1\n'
    crawls = Crawls(tmp_path, server, settings=settings, spider=MANY_ITEMS)
    crawls.write("killing.py", STOPPED_AND_KILLED.replace("PAGES", str(pages)))
    items = crawls.run(feed="out.jsonl", quota=6)
    assert len({item["url"] for item in items}) == len(items) == 14 * PAGES
    assert all(item["text"] for item in items)
    assert crawls.stats["denoise/workers_died"] == 1
    assert "denoise/failed" not in crawls.stats
    assert "] ERROR" not in crawls.log
    assert crawls.log.count("is handed to another worker process: the process was killed by SIGKILL") == 1


def test_a_site_is_learned_again_from_what_waits_when_its_worker_dies(tmp_path: Path, server: DemoServer) -> None:
    killing = """
import os
import signal
from scrapy import signals
from denoise_crawler.crawl.item_fate import ItemFate


class Killing:
    @classmethod
    def from_crawler(cls, crawler):
        extension = cls()
        extension.crawler, extension.left = crawler, 1
        crawler.signals.connect(extension.idle, signals.spider_idle)
        return extension

    def idle(self):  # all pages are learned and wait
        self.left -= 1
        if self.left == 0:
            worker = ItemFate.of(self.crawler).sites.cleaner._workers[0]
            os.kill(worker._process.pid, signal.SIGKILL)
"""
    settings = WORKERS + 'EXTENSIONS["killing.Killing"] = 1\n'
    crawls = Crawls(tmp_path, server, settings=settings)
    crawls.write("killing.py", killing)
    killed = crawls.run(feed="killed.jsonl", quota=500)
    assert crawls.stats["denoise/workers_died"] == 1
    crawls.store.unlink()
    crawls.write("killing.py", killing.replace("os.kill(", "print("))
    sound = crawls.run(feed="sound.jsonl", quota=500)
    assert len(killed) == len(sound) == PAGES
    texts = [sorted((item["url"], item.get("text")) for item in items) for items in (killed, sound)]
    assert all(text for _, text in texts[0])
    assert sum(one != other for one, other in zip(*texts, strict=True)) <= PAGES / 4  # it is not learned again


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_workers_end_when_the_crawl_is_killed(tmp_path: Path, server: DemoServer) -> None:
    crawls = Crawls(tmp_path, server, settings=WORKERS)
    process = crawls.begin(feed="killed.jsonl", quota=500)
    crawls.waits(process, lambda: len(crawls.parked()) >= 3)
    [worker] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{worker}").exists()


def test_without_the_event_loop_of_asyncio_a_crawl_says_that_it_has_no_workers(
    tmp_path: Path, server: DemoServer
) -> None:
    reactor = 'TWISTED_REACTOR = "twisted.internet.epollreactor.EPollReactor"\n'
    crawls = Crawls(tmp_path, server, settings=WORKERS + reactor)
    items = crawls.run(feed="out.jsonl")
    assert len([item for item in items if item["text"]]) == PAGES
    assert crawls.log.count("DENOISE_WORKERS needs the event loop of asyncio") == 1
