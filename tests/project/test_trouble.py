"""docs/trouble.md says how five faults show and what mends them: here each is repeated, by the commands there."""

import json
from pathlib import Path

import pytest

from denoise_crawler.commands.page_command import run
from denoise_crawler.evaluation import corpus_folder, read_gold
from tests.conftest import ROOT
from tests.scrapy_process import denoise

FAULTS = (ROOT / "docs/trouble.md").read_text("utf-8").partition("## Five faults")[2]
HELP = "Change the location for this new selection to"
REMARK = "first you compress it to tar with 7-zip"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def saved(folder: Path, name: str, end: str) -> list[dict[str, str]]:
    """Save the page of a gold set whose URL ends so as saved.html; return the others of its host."""
    if (corpus := corpus_folder()) is None:
        pytest.skip("DENOISE_CORPUS names no folder")
    pages = [{"url": page.url, "html": page.html} for page in read_gold(corpus, name) if page.url]
    page = next(page for page in pages if page["url"].endswith(end))
    (folder / "saved.html").write_text(page["html"], "utf-8")
    host = page["url"].split("/")[2]
    return [one for one in pages if one is not page and one["url"].split("/")[2] == host]


def text_by(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["saved.html", *words]) == 0
    return capsys.readouterr().out.rstrip("\n")


def test_teasers_go_when_pages_of_the_site_are_known(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    others = saved(folder, "daniel", "/2012/01/06/63445805")[:11]
    (folder / "site.jsonl").write_text("\n".join(map(json.dumps, others)))
    assert "judged by the page alone" in denoise(folder, "explain", "saved.html").stdout
    alone = len(text_by(capsys))
    known = len(text_by(capsys, "--site", "ruvr.ru", "--site-pages", "site.jsonl"))
    assert f"{alone:,} characters, of which 548 belong" in FAULTS
    assert f"`--site-pages` with eleven other pages: {known} characters" in FAULTS


def test_the_help_of_a_form_goes_by_a_rule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(folder, "products", "retrak-euselfiew-selfie-stick-black-silver-10134622-pdt.html")
    assert HELP in text_by(capsys)
    block = denoise(folder, "explain", "saved.html", "--only", "kept").stdout.partition(HELP)[2].split("\n")[1]
    assert f"*{block.strip()}*" in FAULTS
    assert HELP not in text_by(capsys, "--drop", ".hd-postcode-info")


def test_comments_come_by_a_setting(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(folder, "qa", "/how-to-create-tar-gz-archive-file-in-windows")
    assert REMARK in denoise(folder, "explain", "saved.html", "--only", "dropped").stdout
    before = text_by(capsys).split("\n")
    after = text_by(capsys, "--comments", "keep").split("\n")
    assert not any(REMARK in line for line in before)
    assert f"`DENOISE_COMMENTS=keep`: {len(after) - len(before)} of them" in FAULTS


def test_an_app_of_one_page_says_that_it_wants_scripts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notice = "You need to enable JavaScript to run this app."
    page = f"<title>App</title><noscript>{notice}</noscript><div id=root></div><script src=/main.js></script>"
    (folder / "saved.html").write_text(page)
    assert text_by(capsys) == notice
    assert notice in FAULTS


@pytest.mark.usefixtures("folder")
def test_a_frameset_says_that_it_is_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "saved.html").write_text("<frameset><frame src=/menu.html><frame src=/main.html></frameset>")
    assert run(["saved.html"]) == 1
    said = capsys.readouterr().err.strip().removeprefix("saved.html ")
    assert said == "has no text: frameset"
    assert f"*{said}*" in FAULTS
