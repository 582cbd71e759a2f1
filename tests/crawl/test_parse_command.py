"""``scrapy parse`` in a project with us, as docs/integrations.md tells it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.conftest import SETTINGS
from tests.loopback import HTML, Answer, serving
from tests.scrapy_process import ScrapyProcess

if TYPE_CHECKING:
    from tests.conftest import Project

ADDON = 'ADDONS = {"denoise_crawler.Addon": 300}\n'
PIPELINES = """ITEM_PIPELINES = {
    "denoise_crawler.pipelines.StyleTreePipeline": 100,
    "denoise_crawler.pipelines.DenoisePipeline": 200,
}
"""
SPIDER = """
import scrapy


class PagesSpider(scrapy.Spider):
    name = "pages"

    def parse_story(self, response):
        return [{"url": response.url, "html": response.text}]
"""
STORY = Answer(200, HTML, b"<html><body><p>One story of the harbour.</body></html>")


def parsed(project: Project, settings: str, *arguments: str) -> str:
    """Return what the command prints."""
    project.write("test_spiders.py", SPIDER)
    project.write("project_settings.py", SETTINGS + settings)
    printed, log = project.folder / "printed.txt", project.folder / "crawl.log"
    with serving(lambda _: STORY) as site:
        command = ("parse", "--spider=pages", "-c", "parse_story", f"{site.url}/story", *arguments)
        assert ScrapyProcess(project.folder, *command, out=printed, err=log).wait(timeout=120) == 0, (
            log.read_text()
        )
    return printed.read_text("utf-8")


def count_waiting(project: Project) -> int:
    with closing(sqlite3.connect(project.folder / ".scrapy" / "denoise.sqlite")) as db:
        return int(db.execute("SELECT count(*) FROM parked").fetchone()[0])


def test_with_the_add_on_it_prints_what_the_callback_yields_and_a_file_has_the_text(project: Project) -> None:
    printed = parsed(project, ADDON, "-o", "items.jsonl")
    assert "/story'" in printed
    assert "'text'" not in printed
    (item,) = [json.loads(line) for line in (project.folder / "items.jsonl").read_text().splitlines()]
    assert item["text"] == "One story of the harbour."
    assert count_waiting(project) == 0


@pytest.mark.parametrize(("quota", "shown"), [((), False), (("-s", "DENOISE_WARMUP_PAGES=0"), True)])
def test_with_the_pipelines_it_prints_the_text_if_nothing_has_to_wait(
    project: Project, quota: tuple[str, ...], shown: bool
) -> None:
    printed = parsed(project, PIPELINES, "--pipelines", *quota)
    assert ("'text': 'One story of the harbour.'" in printed) == shown
    assert count_waiting(project) == 0
