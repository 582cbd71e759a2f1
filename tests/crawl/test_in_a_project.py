"""What a user does: a fresh project with one line added, settings to copy, the demonstration, ``scrapy parse``."""

import functools
import json
import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from examples.demo_site.replies import article_path, articles
from examples.demo_site.server import DemoServer
from tests.conftest import ADDON, PIPELINES, ROOT, SETTINGS, Project
from tests.loopback import HTML, Answer, serving
from tests.programs import run_python
from tests.scrapy_process import ScrapyProcess

FAST = ("-s", "DOWNLOAD_DELAY=0.01", "-s", "DENOISE_DELAY_MIN=0", "-s", "DENOISE_DELAY_MAX=0.01")
SETTINGS_MODULES = sorted(path.stem for path in (ROOT / "settings_examples").glob("[!_]*.py"))


def scrapy(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_python("-m", "scrapy", *arguments, folder=folder, **environment)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def quotes_spider(server: DemoServer, item: str) -> str:
    urls = [server.url + article_path(article) for article in articles()[:8]]
    return f"""import scrapy


class QuotesSpider(scrapy.Spider):
    name = "quotes"
    allowed_domains = ["127.0.0.1"]
    start_urls = {urls!r}

    def parse(self, response):
        yield {item}
"""


@pytest.mark.parametrize("module", SETTINGS_MODULES)
def test_each_settings_example_runs_as_it_stands(module: str, tmp_path: Path, server: DemoServer) -> None:
    spider = ("msn_news", "-a", "detail_url=") if module == "msn_news" else ("site", "-a", "allow=/en-us/.*/ar-")
    if module == "existing_project_pipelines":
        (tmp_path / "quotes.py").write_text(quotes_spider(server, '{"url": response.url, "html": response.text}'))
        spider = ("quotes", "-s", "SPIDER_MODULES=quotes")
    start = () if spider[0] == "quotes" else ("-a", f"start_url={server.url}/en-us", "-a", "max_pages=8")
    scrapy(
        tmp_path,
        *("crawl", *spider, *start, *FAST, "-O", "out.jsonl"),
        SCRAPY_SETTINGS_MODULE=f"settings_examples.{module}",
        PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}",
    )
    items = lines(tmp_path / "out.jsonl")
    assert len(items) == 8
    assert all(item["text"] for item in items)


@pytest.mark.parametrize("module", SETTINGS_MODULES)
def test_settings_to_copy_are_the_fast_default_unless_they_are_about_politeness(module: str) -> None:
    text = (ROOT / "settings_examples" / f"{module}.py").read_text("utf-8")
    about_politeness = "polite" in text.partition("\n")[0]
    assert "DENOISE_WARMUP_PAGES" not in text
    assert ('Politeness": 310}\n' in text or "DENOISE_DELAY_MIN" in text) == about_politeness


def test_the_recipe_keeps_the_spiders_of_the_project_beside_ours() -> None:
    named = re.findall(r"SPIDER_MODULES = (\[.*?\])", (ROOT / "docs" / "crawling.md").read_text("utf-8"))
    assert named == ['["myproject.spiders", "denoise_crawler.spiders"]']


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_crawl_in_the_repository_leaves_no_untracked_file(server: DemoServer, tmp_path: Path) -> None:
    copy = shutil.copytree(ROOT, tmp_path / "repository", ignore=shutil.ignore_patterns(".venv*", ".git", "build"))
    git = functools.partial(subprocess.run, cwd=copy, check=True, capture_output=True, text=True, timeout=60)
    git(["git", "init", "-q"])
    git(["git", "add", "-A"])
    start = ("-a", f"start_url={server.url}/en-us", "-a", "max_pages=2")
    scrapy(copy, "crawl", "site", *start, *FAST, PYTHONPATH=str(copy))
    scrapy(copy, "crawl", "site", *start, *FAST, "-O", "out.jsonl", PYTHONPATH=str(copy))
    assert len(lines(copy / "out.jsonl")) == 2
    assert git(["git", "ls-files", "--others", "--exclude-standard"]).stdout == ""


def test_the_repository_itself_is_a_project_with_both_spiders() -> None:
    assert scrapy(ROOT, "list").stdout.split() == ["msn_news", "site"]


def test_the_demonstration_says_what_came_out(tmp_path: Path) -> None:
    done = run_python("-m", "examples.demo_site", "--output", str(tmp_path), folder=ROOT)
    assert f"clean items are in {tmp_path / 'items.jsonl'}" in done.stdout
    assert "pages seen 68, cleaned 68" in done.stdout
    assert "--- before:" in done.stdout
    assert "--- after:" in done.stdout
    assert len(lines(tmp_path / "items.jsonl")) == 68


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
