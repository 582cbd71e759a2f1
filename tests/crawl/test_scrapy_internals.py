"""What differs between the Scrapies that are supported; what is patched in them is tested by whole crawls."""

from importlib.metadata import requires

import pytest
import scrapy
import scrapy.cmdline
from scrapy.utils.test import get_crawler

from denoise_crawler.crawl.scrapy_internals import has_begun, scheduler_of
from tests.conftest import ROOT, SETTINGS, Project
from tests.loopback import nothing, serving


def test_a_crawl_that_has_not_begun_has_no_scheduler() -> None:
    crawler = get_crawler()
    crawler.engine = crawler._create_engine()
    assert scheduler_of(crawler) is None
    assert not has_begun(crawler)


RENDERING = "denoise_crawler.contrib.rendering"
BOTH = """
import scrapy


class BothSpider(scrapy.Spider):
    name = "both"
"""


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
    project.write("test_spiders.py", BOTH)
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
