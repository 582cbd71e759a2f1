"""Crawls that a script starts: the usual one-file script, and what cannot begin."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scrapy.utils.test import get_crawler

from denoise_crawler.crawl.settings import abort_on_setup_error
from denoise_crawler.errors import CrawlError, SettingError
from tests.loopback import HTML, Answer, serving
from tests.programs import run_program, run_python

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
    return run_program(*command, folder=folder, code=None)


def items(folder: Path) -> int:
    path = folder / "out.jsonl"
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_a_script_with_right_settings_succeeds(tmp_path: Path, kind: str, how: dict[str, object]) -> None:
    done = run_script(tmp_path, kind, "Story", **how)
    assert (done.returncode, done.stdout, items(tmp_path)) == (0, "a success\n", 1), done.stderr


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


PAGE = """<html><head><title>Page {0}</title></head><body>
<div class="menu"><a href="/1">Home</a> <a href="/2">Sports</a> <a href="/3">Weather and traffic</a></div>
<div class="main"><h1>What was found on day {0}</h1><p>{1}</p></div>
<div class="foot">Copyright of the harbour news, all rights reserved</div></body></html>"""

ONE_FILE_SCRIPT = """
import json
import os
import sys
from dataclasses import dataclass, field

import scrapy
from scrapy.crawler import CrawlerProcess

%s

class Probe:
    # a pipeline that uses what items hold beside their fields
    def process_item(self, item):
        line = {"kind": type(item).__name__, **probed(item)}
        with open("items.jsonl", "a") as file:
            file.write(json.dumps(line) + "\\n")
        return item


class Everything(scrapy.Spider):
    name = "everything"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    start_urls = json.loads(sys.argv[1])

    def parse(self, response):
        if response.url.endswith(os.environ.get("KILL_AT", "never")):
            os.kill(os.getpid(), 9)
        yield from items_of(response.url)


if __name__ == "__main__":
    settings = {"ITEM_PIPELINES": {Probe: 300}, "TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "INFO"}
    if sys.argv[2] == "with":
        settings["ADDONS"] = {"denoise_crawler.Addon": 300}
    process = CrawlerProcess(settings)
    process.crawl(Everything)
    process.start()
"""

PRODUCT = """
@dataclass
class Product:
    url: str
    text: str = ""


def items_of(url):
    yield Product(url)


def probed(item):
    return {"url": item.url, "text": item.text}
"""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """A site of pages that have a menu and a foot around their text."""

    def answer(path: str) -> Answer:
        number = path.strip("/")
        text = " ".join(f"Boat {number} of row {row} came back with {number} fish." for row in range(20))
        return Answer(200, HTML, PAGE.format(number, text).encode())

    with serving(answer) as served:
        yield served.url


def run(folder: Path, name: str, urls: list[str], mode: str = "with", **environment: str) -> str:
    """Run a script to its end and return its log."""
    done = run_python(name, json.dumps(urls), mode, folder=folder, code=(-9 if environment else 0), **environment)
    return done.stderr


def came_out(folder: Path) -> list[dict[str, Any]]:
    """Return what the pipeline has seen since it was asked last."""
    path = folder / "items.jsonl"
    if not path.exists():
        return []
    items = [json.loads(line) for line in path.read_text().splitlines()]
    path.unlink()
    return items


def waiting(folder: Path) -> int:
    with closing(sqlite3.connect(folder / ".scrapy" / "denoise.sqlite")) as db:
        return int(db.execute("SELECT count(*) FROM parked").fetchone()[0])


def test_what_a_killed_script_left_comes_out_of_that_script_alone(tmp_path: Path, site: str) -> None:
    for name in ("one", "two"):  # each has a class of this name, with a field of its own
        own = PRODUCT.replace('text: str = ""\n', f'text: str = ""\n    {name}: str = "{name}"\n')
        own = own.replace('"text": item.text', f'"text": item.text, "own": item.{name}')
        (tmp_path / f"{name}.py").write_text(ONE_FILE_SCRIPT % own)
    urls = [f"{site}/{number}" for number in range(6)]
    run(tmp_path, "one.py", urls, KILL_AT="/4")
    assert came_out(tmp_path) == []
    assert waiting(tmp_path) == 4
    log = run(tmp_path, "two.py", urls[5:])
    assert [(item["url"], item["own"]) for item in came_out(tmp_path)] == [(urls[5], "two")]
    assert waiting(tmp_path) == 4
    assert "wait from an earlier run" not in log
    run(tmp_path, "one.py", urls[4:5])
    assert sorted((item["url"], item["own"]) for item in came_out(tmp_path)) == [(url, "one") for url in urls[:5]]
    assert waiting(tmp_path) == 0


def test_an_item_of_a_class_that_was_typed_in_is_refused_for_no_later_run_finds_it() -> None:
    code = (
        "from scrapy import Item\n"
        "from denoise_crawler.crawl.pickled import pack\n"
        "class Product(Item): pass\n"
        "try: pack(Product())\n"
        "except ValueError as error: print(error)"
    )
    done = run_python("-c", code)
    assert done.stdout == ("__main__.Product: the class was typed in, and no later run can find it\n")
