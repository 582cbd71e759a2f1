"""``scrapy denoise rules`` and ``scrapy denoise correct``, from argument to exit code."""

from __future__ import annotations

import json
import os
import stat
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest

from denoise_crawler.errors import RulesError
from denoise_crawler.rules import SiteRules
from denoise_crawler.rules.correct import add_rule, path_for
from tests.example_files import write_examples
from tests.loopback import HTML, Answer, serving
from tests.rules.test_obeying import PAGE
from tests.scrapy_command import denoise

if TYPE_CHECKING:
    from pathlib import Path


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
