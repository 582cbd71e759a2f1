"""The usual script of one file, with its item classes in ``__main__``, started as a user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.guests.guest_project import addresses
from tests.guests.site import hosts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.loopback import Served

SCRIPT = """
import json
from dataclasses import dataclass

import scrapy
from scrapy.crawler import CrawlerProcess


@dataclass
class Page:
    url: str
    text: str = ""


class Story(scrapy.Item):
    url = scrapy.Field()
    text = scrapy.Field()


class PagesSpider(scrapy.Spider):
    name = "pages"
    with open("urls.json") as file:
        start_urls = json.load(file)

    def parse(self, response):
        yield Page(response.url)
        yield Story(url=response.url + "#story")


process = CrawlerProcess({SETTINGS})
process.crawl(PagesSpider)
process.start()
"""
NOBODY: dict[str, Any] = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "FEEDS": {"out.jsonl": {"format": "jsonlines"}},
}
ADDON = {**NOBODY, "ADDONS": {"denoise_crawler.Addon": 300}}


@pytest.fixture(scope="module")
def served() -> Iterator[list[Served]]:
    with hosts(1) as running:
        yield running


def run_crawl(folder: Path, settings: dict[str, Any], urls: list[str]) -> list[str]:
    folder.mkdir()
    (folder / "urls.json").write_text(json.dumps(urls))
    (folder / "crawl.py").write_text(SCRIPT.replace("{SETTINGS}", repr(settings)))
    done = subprocess.run(
        [sys.executable, "crawl.py"],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr, done.stderr
    items = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert all(item["text"] for item in items) == ("ADDONS" in settings)
    return sorted(item["url"] for item in items)


@pytest.mark.parametrize("pages", [4, 8])
def test_items_of_classes_in_the_started_script_come_out_as_without_us(
    pages: int, served: list[Served], tmp_path: Path
) -> None:
    urls = addresses(served, pages)
    without = run_crawl(tmp_path / "without", NOBODY, urls)
    assert len(without) == 2 * pages
    assert run_crawl(tmp_path / "with", ADDON, urls) == without
