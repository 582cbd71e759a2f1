"""Crawls that a script starts: what cannot begin is one clear error, and no success."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.test import get_crawler

from denoise_crawler.crawl.setup_errors import abort_on_setup_error
from denoise_crawler.errors import CrawlError, SettingError

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import json
import sys

import scrapy
from scrapy import crawler

from denoise_crawler.errors import CrawlError


class Story(scrapy.Spider):
    name = "story"
    start_urls = ["data:text/html,<p>One story of the harbour."]

    def parse(self, response):
        yield {"url": response.url, "html": response.text}


class Wrong(Story):
    custom_settings = {"DENOISE_METHOD": "svm"}


kind, spiders, given = sys.argv[1:]
FEEDS = {"out.jsonl": {"format": "jsonlines"}}
process = getattr(crawler, kind)({"LOG_LEVEL": "ERROR", "FEEDS": FEEDS, **json.loads(given)})
for name in spiders.split():
    process.crawl(globals()[name])
try:
    process.start()
except CrawlError as error:
    assert isinstance(error, Exception)
    raise
print("a success")
"""
ADDON = {"ADDONS": {"denoise_crawler.Addon": 300}}
PIPELINES = {
    "ITEM_PIPELINES": {
        "denoise_crawler.pipelines.StyleTreePipeline": 100,
        "denoise_crawler.pipelines.DenoisePipeline": 200,
    }
}
KINDS = ["CrawlerProcess", "AsyncCrawlerProcess"]
SVM = "DENOISE_METHOD is 'svm': set it to one of "


def run_script(folder: Path, kind: str, spiders: str, **settings: object) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(SCRIPT)
    command = [sys.executable, "script.py", kind, spiders, json.dumps(settings)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def items(folder: Path) -> int:
    path = folder / "out.jsonl"
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_a_script_with_right_settings_succeeds(tmp_path: Path, kind: str, how: dict[str, object]) -> None:
    done = run_script(tmp_path, kind, "Story", **how)
    assert (done.returncode, done.stdout, items(tmp_path)) == (0, "a success\n", 1), done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_setting_of_a_script_is_an_error_where_the_script_gives_it(tmp_path: Path, kind: str) -> None:
    done = run_script(tmp_path, kind, "Story", **ADDON, DENOISE_METHOD="svm")
    assert (done.returncode, done.stdout, items(tmp_path)) == (1, "", 0)
    assert done.stderr.splitlines()[-1].startswith(f"denoise_crawler.errors.SettingError: {SVM}")
    assert done.stderr.count("Traceback") == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("spider", "settings", "why"),
    [
        ("Wrong", ADDON, SVM),
        ("Story", {**PIPELINES, "DENOISE_METHOD": "svm"}, SVM),
        ("Story", {**ADDON, "DENOISE_STORE": "/dev/null/s"}, "the store /dev/null/s cannot be used: "),
    ],
)
def test_a_crawl_of_a_script_that_cannot_begin_ends_it_with_a_line_and_status_1(
    tmp_path: Path, kind: str, spider: str, settings: dict[str, object], why: str
) -> None:
    done = run_script(tmp_path, kind, spider, **settings)
    assert (done.returncode, done.stdout, items(tmp_path)) == (1, "", 0)
    assert f"\nThe crawl cannot begin: {why}" in f"\n{done.stderr}"


def test_other_crawls_of_the_script_end_in_their_own_way_before_it_fails(tmp_path: Path) -> None:
    for number, spiders in enumerate(["Story Wrong", "Wrong Story"], 1):
        done = run_script(tmp_path, "CrawlerProcess", spiders, **ADDON)
        assert (done.returncode, done.stdout, items(tmp_path)) == (1, "", number)
        assert f"\nThe crawl cannot begin: {SVM}" in f"\n{done.stderr}"


def test_in_an_event_loop_of_others_the_error_goes_on_as_it_is() -> None:
    with pytest.raises(SettingError, match=r"^it is wrong$"), abort_on_setup_error(get_crawler()):
        raise SettingError("it is wrong")
    assert issubclass(CrawlError, Exception)
