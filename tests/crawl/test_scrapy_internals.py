"""What differs between the Scrapies that are supported; what is patched in them is tested by whole crawls."""

from importlib.metadata import requires

import pytest
import scrapy
import scrapy.cmdline
from scrapy.spiders import SitemapSpider
from scrapy.utils.test import get_crawler

from denoise_crawler.crawl.scrapy_internals import (
    has_begun,
    ignores_start_requests,
    scheduler_of,
)
from tests.conftest import ROOT, SETTINGS, Project
from tests.loopback import nothing, serving


def test_a_crawl_that_has_not_begun_has_no_scheduler() -> None:
    crawler = get_crawler()
    crawler.engine = crawler._create_engine()
    assert scheduler_of(crawler) is None
    assert not has_begun(crawler)


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


def test_the_package_asks_for_no_newer_scrapy_than_the_oldest_that_is_tested() -> None:
    oldest = (ROOT / "Makefile").read_text().partition("OLDER := ")[2].split()[0]
    assert f"scrapy>={oldest}" in (requires("denoise-crawler") or [])
