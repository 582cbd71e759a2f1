"""Site rules in a crawl, in a batch and in the commands, from argument to exit code."""

import json
from pathlib import Path

import pytest
from scrapy.settings import Settings

from denoise_crawler.batch import BatchStats, clean_pages
from denoise_crawler.commands.page_command import run as page_command
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.errors import SettingError
from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import ADDON, SETTINGS, Project
from tests.crawl.test_crawl import quota, urls
from tests.rules.test_site_files import PAGE, URL, WRONG
from tests.scrapy_process import denoise


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "a.example.txt").write_text("body: #story\nstrip: p.ad\n")
    (tmp_path / "page.jsonl").write_text(json.dumps({"url": URL, "html": PAGE}))
    return tmp_path


def crawl(project: Project, server: DemoServer, rules: str) -> list[dict[str, str]]:
    project.write("project_settings.py", SETTINGS + ADDON)
    project.spider(SPIDER, urls(server))
    (project.folder / "rules").mkdir(exist_ok=True)
    project.write("rules/127.0.0.1.txt", rules)
    return project.crawl("articles", *quota(5), "-s", "DENOISE_SITE_RULES=rules")


def test_a_crawl_applies_rules_and_counts_the_pages(project: Project, server: DemoServer) -> None:
    items = crawl(project, server, "body: h1")
    assert len(items) == 24
    assert project.stats["denoise/rules_passed_over"] == 24
    assert project.log.count("127.0.0.1.txt leaves next to nothing of http") == 1
    items = crawl(project, server, "strip: //*[self::h1 or self::h2]\ntitle: h2")
    assert project.stats["denoise/rules_applied"] == 24
    assert "denoise/rules_passed_over" not in project.stats
    assert "denoise/failed" not in project.stats
    assert all(item["text"] for item in items)


def test_a_crawl_names_three_wrong_rules_once_each_and_goes_on(project: Project, server: DemoServer) -> None:
    assert len(crawl(project, server, WRONG)) == 24
    lines = [line for line in project.log.splitlines() if "127.0.0.1.txt, line" in line]
    assert [line.partition("127.0.0.1.txt, ")[2].partition(":")[0] for line in lines] == [
        "line 3",
        "line 4",
        "line 5",
    ]
    assert all("WARNING" in line for line in lines)


def test_a_folder_that_is_not_there_stops_the_crawl_at_the_start() -> None:
    with pytest.raises(
        SettingError, match="DENOISE_SITE_RULES is 'missing', which is no folder: set it to a folder"
    ):
        DenoiseSettings.from_settings(Settings({"DENOISE_SITE_RULES": "missing"}))
    assert DenoiseSettings.from_settings(Settings({"DENOISE_SITE_RULES": ""})).site_rules == ""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_batch_applies_rules_in_each_process_and_counts_what_is_passed_over(folder: Path, workers: int) -> None:
    pages = [(URL, PAGE), ("https://b.example/1", PAGE)]
    (folder / "rules" / "b.example.txt").write_text("body: nav")
    stats = BatchStats()
    results = list(clean_pages(lambda: pages, workers=workers, rules=folder / "rules", stats=stats))
    assert [result.passed_over for result in results] == ["", "b.example.txt"]
    assert "Own words" in results[0].page.text
    assert "Buy two boats" not in results[0].page.text
    assert dict(stats.passed_over) == {"b.example.txt": 1}


def test_the_clean_command_names_wrong_lines_and_rules_that_were_passed_over(folder: Path) -> None:
    (folder / "rules" / "a.example.txt").write_text("body: nav\nbodi: main\n")
    done = denoise(folder, "clean", "page.jsonl", "-s", "DENOISE_SITE_RULES=rules")
    assert "a.example.txt, line 2: there is no directive 'bodi'; did you mean 'body'?" in done.stderr
    assert "rules that leave next to nothing were passed over: 1 a.example.txt" in done.stderr
    assert "ferry" in json.loads(done.stdout)["text"]


def test_keep_and_drop_are_rules_for_one_run_on_every_command_beside_those_of_the_site(folder: Path) -> None:
    (folder / "rules" / "a.example.txt").write_text("strip: p.own")
    words = ("page.jsonl", "-s", "DENOISE_SITE_RULES=rules", "--drop", "p.ad", "--keep", "nav")
    explained = denoise(folder, "explain", "--all", *words).stdout
    assert all(why in explained for why in ("this run: strip: p.ad", "this run: keep: nav"))
    text = json.loads(denoise(folder, "clean", *words).stdout)["text"]
    assert "Buy two boats" not in text
    assert "Home" in text


def test_keep_and_drop_are_rules_of_the_command_for_single_pages(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "page.html").write_text(PAGE)
    page = str(folder / "page.html")
    assert page_command([page, "--drop", "p.ad", "--keep", "nav"]) == 0
    text = capsys.readouterr().out
    assert "Buy two boats" not in text
    assert "Home" in text
    with pytest.raises(SystemExit):
        page_command([page, "--drop", "p["])
    assert "'p[' is not a CSS selector" in capsys.readouterr().err
