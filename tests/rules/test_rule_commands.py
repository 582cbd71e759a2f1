"""Site rules in a crawl, in a batch and in the commands, from argument to exit code."""

import json
import os
import stat
from multiprocessing import get_context
from pathlib import Path

import pytest
from scrapy.settings import Settings

from denoise_crawler.batch import Tally, clean_pages
from denoise_crawler.commands.page_command import run as page_command
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.demo.server import DemoServer
from denoise_crawler.errors import RulesError, SettingError
from denoise_crawler.rules import SiteRules
from denoise_crawler.rules.correct import add_rule, path_for
from tests.article_spider import SPIDER
from tests.conftest import ADDON, SETTINGS, Project
from tests.crawl.test_crawl import quota, urls
from tests.example_files import write_examples
from tests.loopback import HTML, Answer, serving
from tests.rules.test_site_files import PAGE, URL, WRONG
from tests.scrapy_process import denoise


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rules")
    write_examples(made, 6)
    return made


# --- rules


def test_the_rules_of_a_site_are_printed_and_checked(examples: Path) -> None:
    done = denoise(examples, "rules", "example.com", "--pages", "pages.jsonl", "--check", "mirror")
    assert done.stdout.startswith("example.com: derived from 6 judged pages\n\nthe content stands in\n")
    assert "section.articlebody > p  6 of 6 pages" in done.stdout
    assert "checked on 6 pages, the verdicts taken for the truth:\n  nodes      F1 0.8" in done.stdout
    assert not done.stderr


def test_the_printed_file_is_obeyed_and_gives_nearly_the_same_text(examples: Path, tmp_path: Path) -> None:
    done = denoise(examples, "rules", "example.com", "--pages", "pages.jsonl", "--as", "ftr")
    (tmp_path / "example.com.txt").write_text(done.stdout)
    plain = denoise(examples, "clean", "pages.jsonl")
    ruled = denoise(examples, "clean", "pages.jsonl", "-s", f"DENOISE_SITE_RULES={tmp_path}")
    assert "example.com.txt" not in ruled.stderr
    for before, after in zip(plain.stdout.splitlines(), ruled.stdout.splitlines(), strict=True):
        kept, whole = (set(json.loads(line)["text"].split("\n")) for line in (after, before))
        assert len(kept & whole) / len(whole | kept) >= 0.65


def test_rules_as_json_have_css_xpath_and_the_check(examples: Path) -> None:
    done = denoise(examples, "rules", "example.com", "--pages", "pages.jsonl", "--check", "mirror", "--as", "json")
    found = json.loads(done.stdout)
    assert found["pages"] == 6
    assert {"directive": "title", "css": "h1", "xpath": "//h1", "pages": 6} in [
        {name: rule[name] for name in ("directive", "css", "xpath", "pages")} for rule in found["rules"]
    ]
    assert found["check"]["pages"] == 6
    assert found["check"]["characters"]["f1"] > 0.9


def test_a_site_of_which_no_page_is_at_hand_is_named(examples: Path, tmp_path: Path) -> None:
    done = denoise(examples, "rules", "other.example", code=1)
    assert "keeps no page of other.example: name pages of the site with --pages" in done.stderr
    done = denoise(tmp_path, "rules", "other.example", code=1)
    assert "there is no store: name pages of the site with --pages, or a store with --store" in done.stderr
    denoise(tmp_path, "rules", "other.example", "--store", "missing.sqlite", code=2)
    denoise(tmp_path, "rules", "other.example", "--pages", "missing.jsonl", code=1)
    denoise(tmp_path, "rules", code=2)


def test_only_pages_of_the_site_and_those_without_an_address_count(examples: Path, tmp_path: Path) -> None:
    pages = [json.loads(line) for line in (examples / "pages.jsonl").read_text().splitlines()]
    others = [{**page, "url": page["url"].replace("example.com", "other.example")} for page in pages[:4]]
    write = (tmp_path / "pages.jsonl").write_text
    write("\n".join(json.dumps(page) for page in [*others, *pages[:3], {"html": pages[3]["html"]}]))
    done = denoise(tmp_path, "rules", "example.com", "--pages", "pages.jsonl", "--check", "pages.jsonl")
    assert done.stdout.startswith("example.com: derived from 4 judged pages\n")
    assert "checked on 4 pages" in done.stdout
    write("\n".join(map(json.dumps, [*others, *pages[:3]])))
    done = denoise(tmp_path, "rules", "nosuch.example", "--pages", "pages.jsonl", code=1)
    said = (
        "no page in pages.jsonl is of nosuch.example. The sites there (pages): other.example (4), example.com (3)"
    )
    assert said in done.stderr
    assert not done.stdout


def test_pages_of_a_plain_folder_count_and_those_of_a_mirror_by_their_folder(
    examples: Path, tmp_path: Path
) -> None:
    htmls = [json.loads(line)["html"] for line in (examples / "pages.jsonl").read_text().splitlines()]
    for name in ("a.example/1", "b.example/1", "b.example/2", "2024/1", "plain"):
        (tmp_path / "saved" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "saved" / f"{name}.html").write_text(htmls.pop())
    done = denoise(tmp_path, "rules", "b.example", "--pages", "saved")
    assert done.stdout.startswith("b.example: derived from 4 judged pages\n")


# --- correct


def test_a_rule_is_appended_once_and_says_what_it_finds(examples: Path, tmp_path: Path) -> None:
    arguments = ("correct", "pages.jsonl", "--drop", "p.follow", "--keep", "h1", "--rules", tmp_path / "new")
    first = denoise(examples, *arguments)
    assert "example.com.txt, line 1: strip: p.follow\n  finds 1 node with " in first.stdout
    assert "example.com.txt, line 2: keep: h1\n" in first.stdout
    again = denoise(examples, *arguments)
    assert again.stdout.count("(it was there)") == 2
    assert (tmp_path / "new" / "example.com.txt").read_text() == "strip: p.follow\nkeep: h1\n"
    assert [path.name for path in sorted((tmp_path / "new").iterdir())] == [".lock", "example.com.txt"]


def test_a_page_is_fetched_by_its_address(tmp_path: Path) -> None:
    with serving(lambda _: Answer(200, HTML, PAGE.encode())) as served:
        done = denoise(tmp_path, "correct", f"{served.url}/1", "--drop", "div.related", "--rules", "rules")
    assert "127.0.0.1.txt, line 1: strip: div.related" in done.stdout


def test_a_selector_that_is_wrong_or_finds_nothing_is_refused(examples: Path, tmp_path: Path) -> None:
    rules = ("--rules", tmp_path)
    wrong = denoise(examples, "correct", "pages.jsonl", "--drop", "p[", *rules, code=2)
    assert "'p[' is not a CSS selector" in wrong.stderr
    useless = denoise(examples, "correct", "pages.jsonl", "--drop", "h1", "--keep", "b.nothing", *rules, code=1)
    assert "b.nothing finds nothing that is read on https://example.com/" in useless.stderr
    assert list(tmp_path.iterdir()) == []
    denoise(examples, "correct", "pages.jsonl", "--keep", "b.nothing", "--force", *rules)
    assert (tmp_path / "example.com.txt").read_text() == "keep: b.nothing\n"


def test_rules_that_leave_next_to_nothing_are_written_with_a_warning(examples: Path, tmp_path: Path) -> None:
    done = denoise(examples, "correct", "pages.jsonl", "--drop", "body", "--rules", tmp_path)
    assert "example.com.txt leaves next to nothing of this page: it is passed over on it" in done.stderr


def test_what_is_missing_is_named(examples: Path, tmp_path: Path) -> None:
    for arguments, said in (
        (("pages.jsonl", "--drop", "p"), "name the folder of rules"),
        (("pages.jsonl", "--rules", tmp_path), "name what to drop or to keep"),
    ):
        assert said in denoise(examples, "correct", *arguments, code=2).stderr
    denoise(examples, "correct", "missing.jsonl", "--drop", "p", "--rules", tmp_path, code=1)


def test_a_rule_goes_into_the_file_that_is_obeyed_and_keeps_what_stands_there(tmp_path: Path) -> None:
    (tmp_path / ".A.example.txt").write_text("# mine\nbody: main")
    (tmp_path / ".A.example.txt").chmod(0o640)
    written = add_rule(tmp_path, "https://news.a.example/1", "strip", " p.ad\n  b ")
    assert written.path == tmp_path / ".A.example.txt"
    assert written.path.read_text() == "# mine\nbody: main\nstrip: p.ad b\n"
    assert stat.S_IMODE(written.path.stat().st_mode) == 0o640
    assert path_for(tmp_path, "https://www.b.example/") == tmp_path / "b.example.txt"
    assert SiteRules.read(tmp_path).problems == []


def test_a_file_that_cannot_be_used_is_named_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.example.txt").write_bytes(b"\xff")
    with pytest.raises(RulesError, match=r"a\.example\.txt cannot be read"):
        add_rule(tmp_path, "https://a.example/", "strip", "p")
    assert (tmp_path / "a.example.txt").read_bytes() == b"\xff"
    for address in ("no address", "http://x\0y/", "http://x\x1by/"):
        with pytest.raises(RulesError, match="has no host"):
            add_rule(tmp_path / "new", address, "strip", "p")
        with pytest.raises(RulesError, match="has no host"):
            path_for(tmp_path, address)
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(RulesError):
        add_rule(tmp_path / "file", "https://a.example/", "strip", "p")


def _add_rules(folder: Path, who: int) -> None:
    for number in range(25):
        add_rule(folder, "https://a.example/", "strip", f"p.by{who}x{number}")


def test_processes_that_add_rules_at_the_same_time_lose_none(tmp_path: Path) -> None:
    spawn = get_context("spawn")
    adding = [spawn.Process(target=_add_rules, args=(tmp_path / "rules", who)) for who in range(2)]
    for process in adding:
        process.start()
    for process in adding:
        process.join()
    rules = SiteRules.read(tmp_path / "rules").of("https://a.example/")
    assert rules is not None
    added = {f"p.by{who}x{number}" for who in range(2) for number in range(25)}
    assert {rule.value for rule in rules.rules} == added


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RulesError, match="cannot be written"):
        add_rule(tmp_path, "https://a.example/", "strip", "p")


RULES = "title: h1\nstrip: footer\nkeep: footer p\n"


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


def test_a_crawl_obeys_rules_and_counts_the_pages(project: Project, server: DemoServer) -> None:
    items = crawl(project, server, "body: h1")
    assert len(items) == 24
    assert project.stats["denoise/rules_passed_over"] == 24
    assert project.log.count("127.0.0.1.txt leaves next to nothing of http") == 1
    items = crawl(project, server, "strip: //*[self::h1 or self::h2]\ntitle: h2")
    assert project.stats["denoise/rules_obeyed"] == 24
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
def test_a_batch_obeys_rules_in_each_process_and_counts_what_is_passed_over(folder: Path, workers: int) -> None:
    pages = [(URL, PAGE), ("https://b.example/1", PAGE)]
    (folder / "rules" / "b.example.txt").write_text("body: nav")
    tally = Tally()
    results = list(clean_pages(lambda: pages, workers=workers, rules=folder / "rules", tally=tally))
    assert [result.passed_over for result in results] == ["", "b.example.txt"]
    assert "Own words" in results[0].page.text
    assert "Buy two boats" not in results[0].page.text
    assert dict(tally.passed_over) == {"b.example.txt": 1}


def test_the_clean_command_names_wrong_lines_and_rules_that_were_passed_over(folder: Path) -> None:
    (folder / "rules" / "a.example.txt").write_text("body: nav\nbodi: main\n")
    done = denoise(folder, "clean", "page.jsonl", "-s", "DENOISE_SITE_RULES=rules")
    assert "a.example.txt, line 2: there is no directive 'bodi'; did you mean 'body'?" in done.stderr
    assert "rules that leave next to nothing were passed over: 1 a.example.txt" in done.stderr
    assert "ferry" in json.loads(done.stdout)["text"]


def test_explain_names_the_rule_and_its_line(folder: Path) -> None:
    done = denoise(folder, "explain", "page.jsonl", "-s", "DENOISE_SITE_RULES=rules")
    assert "a.example.txt, line 2: strip: p.ad" in done.stdout
    assert "a.example.txt, line 1: body: #story" in done.stdout


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


def test_a_wrong_selector_of_a_run_is_wrong_usage(folder: Path) -> None:
    assert "'p[' is not a CSS selector" in denoise(folder, "explain", "page.jsonl", "--drop", "p[", code=2).stderr
