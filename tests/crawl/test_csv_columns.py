"""CSV feeds whose first item has no page: the text of the others is not lost."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from tests.conftest import SETTINGS
from tests.loopback import HTML, Answer, serving
from tests.scrapy_process import ScrapyProcess

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Project

SPIDER = """
import scrapy


class MixedSpider(scrapy.Spider):
    name = "mixed"
    custom_settings = {"CONCURRENT_REQUESTS": 1}

    async def start(self):
        yield {"url": "no page", "html": None}
        for number in range(8):
            yield scrapy.Request(f"{self.site}/{number}")

    def parse(self, response):
        yield {"url": response.url, "html": response.text}


class OwnTextSpider(scrapy.Spider):
    name = "own"

    async def start(self):
        yield {"text": "mine", "url": "1"}
        yield {"text": "mine", "url": "2"}
"""
ADDON = 'ADDONS = {"denoise_crawler.Addon": 300}\n'
PIPELINES = """ITEM_PIPELINES = {
    "denoise_crawler.pipelines.StyleTreePipeline": 100,
    "denoise_crawler.pipelines.DenoisePipeline": 200,
}
"""


def page(path: str) -> Answer:
    return Answer(200, HTML, f"<html><body><p>Story {path[1:]} of the harbour.</body></html>".encode())


def lines(project: Project, spider: str, *arguments: str, feed: str = "out.csv") -> list[dict[str, str]]:
    with serving(page) as site:
        project.ended(project.start(spider, "-a", f"site={site.url}", *arguments, feed=feed))
    return read(project.folder / feed)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def mixed(project: Project) -> Project:
    project.write("test_spiders.py", SPIDER)
    return project


@pytest.mark.parametrize("how", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_the_text_has_a_column_though_the_first_item_has_no_page(mixed: Project, how: str) -> None:
    mixed.write("project_settings.py", SETTINGS + how)
    rows = lines(mixed, "mixed")
    assert list(rows[0]) == ["url", "html", "text"]
    assert (rows[0]["url"], rows[0]["text"]) == ("no page", "")
    assert sorted(row["text"] for row in rows[1:]) == [f"Story {number} of the harbour." for number in range(8)]


def test_other_fields_that_are_filled_have_columns_too_and_the_item_itself_stays_as_it_is(mixed: Project) -> None:
    own = "DENOISE_TEXT_FIELD = 'clean'\nDENOISE_EXTRA_FIELDS = {'noise_ratio': 'noise'}\n"
    also = "FEEDS = {'out.jsonl': {'format': 'jsonlines'}, 'out.csv': {'format': 'csv'}}\n"
    mixed.write("project_settings.py", SETTINGS + ADDON + own + also)
    with serving(page) as site:
        run = ScrapyProcess(
            mixed.folder, "crawl", "mixed", "-a", f"site={site.url}", out=mixed.folder / "crawl.log"
        )
        assert run.wait(timeout=120) == 0
    rows = read(mixed.folder / "out.csv")
    assert list(rows[0]) == ["url", "html", "clean", "noise"]
    assert all(row["clean"] and row["noise"] for row in rows[1:])
    assert mixed.items()[0] == {"url": "no page", "html": None}


def test_named_columns_and_items_with_a_text_of_their_own_are_written_as_without_us(mixed: Project) -> None:
    written = []
    for number, how in enumerate([ADDON, ""]):
        mixed.write("project_settings.py", SETTINGS + how)
        own = lines(mixed, "own", feed=f"own{number}.csv")
        named = lines(mixed, "mixed", "-s", "FEED_EXPORT_FIELDS=url", feed=f"named{number}.csv")
        written.append((own, list(own[0]), list(named[0]), len(named)))
    assert written[0] == written[1]


def test_an_exporter_of_the_project_stays(mixed: Project) -> None:
    mixed.write("own_exporter.py", "from scrapy.exporters import CsvItemExporter as Csv\nclass Own(Csv): pass\n")
    own = 'FEED_EXPORTERS = {"csv": "own_exporter.Own"}\n'
    mixed.write("project_settings.py", SETTINGS + ADDON + own)
    assert list(lines(mixed, "mixed")[0]) == ["url", "html"]
