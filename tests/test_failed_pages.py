"""A page on which we raise costs no other page anything, and names its error."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from denoise_crawler import CleanPage, denoise_pages
from denoise_crawler.batch import BatchStats, clean_pages
from denoise_crawler.methods import Judgement
from denoise_crawler.methods.link_ratio import LinkRatio
from denoise_crawler.output.writing import RENDERINGS
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_of
from tests.odd_method import OddWriting
from tests.page_failures import PageFailedError, check_log
from tests.scrapy_process import denoise_here

PAGES = [
    (f"https://a.example/{name}", f"<nav><a href=/>menu</a></nav><p>This is {name}.")
    for name in ("one", "raise", "two")
]
RAISED = "ZeroDivisionError: no such page (odd_method.py, line "


pytestmark = pytest.mark.usefixtures("odd_site")


def cleaned(road: str, method: str, site: Callable[[str], str]) -> list[CleanPage]:
    if road == "denoise_pages":
        return list(denoise_pages(iter(PAGES), method=method))
    found = clean_pages(lambda: PAGES, method, workers=int(road.split()[-1]), site=site, writing=OddWriting())
    return [result.page for result in found]


@pytest.mark.fails_on_a_page
@pytest.mark.parametrize("road", ["denoise_pages", "clean_pages 1", "clean_pages 2"])
def test_a_page_that_cannot_be_cleaned_comes_out_without_text_and_names_the_error(
    road: str, odd_site: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    one, failed, two = cleaned(road, "odd_ratio", odd_site)
    assert (one.text, one.error, two.text, two.error) == ("This is one.", None, "This is two.", None)
    assert (failed.url, failed.site, failed.text, failed.warm) == (PAGES[1][0], "a.example", "", False)
    assert failed.error is not None
    assert failed.error.startswith(RAISED)
    [line] = [record for record in caplog.records if record.name.startswith("denoise_crawler")]
    assert line.levelno == logging.ERROR
    said, *traceback = line.getMessage().splitlines()
    assert said.startswith(f"{PAGES[1][0]} cannot be cleaned because of a bug in denoise_crawler")
    assert traceback[0] == "Traceback (most recent call last):"
    assert traceback[-1] == "ZeroDivisionError: no such page"


@pytest.mark.fails_on_a_page
@pytest.mark.parametrize("road", ["denoise_pages", "clean_pages 1", "clean_pages 2"])
def test_a_page_that_cannot_be_learned_and_cleaned_is_one_line_of_the_log(
    road: str, odd_site: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    found = cleaned(road, "odd_learner", odd_site)
    assert [bool(page.error) for page in found] == [False, True, False]
    assert found[0].text
    [line] = [record for record in caplog.records if record.name.startswith("denoise_crawler")]
    assert line.getMessage().splitlines()[-1] == "ZeroDivisionError: not to be learned"


@pytest.mark.fails_on_a_page
def test_a_page_that_cannot_be_rendered_keeps_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> str:
        raise LookupError("no \x1b[31mpicture")

    monkeypatch.setitem(RENDERINGS, "html", refuse)
    stats = BatchStats()
    [found, *_] = clean_pages(lambda: PAGES[:1], "link_ratio", workers=1, render="html", site=site_of, stats=stats)
    assert (found.page.text, found.page.error, found.rendered) == ("This is one.", None, None)
    assert found.error is not None
    assert found.failure is not None
    assert found.error.startswith("LookupError: no ")
    assert "\x1b" not in "".join(found.failure.lines)
    assert stats.failed == 1


def test_a_test_in_which_we_fail_on_a_page_fails_itself() -> None:
    log = "".join(
        f"{PAGES[1][0]} cannot be {what}\n" for what in ("cleaned because of a bug in denoise_crawler; the", "")
    )
    with pytest.raises(PageFailedError, match="raise cannot be cleaned because of a bug"):
        check_log(log)
    check_log(f"{PAGES[1][0]} cannot be cleaned: the process was killed by SIGKILL")


def raising(judge: Callable[[LinkRatio, Page], Judgement]) -> Callable[[LinkRatio, Page], Judgement]:
    def judge_most(method: LinkRatio, page: Page) -> Judgement:
        if page.url == PAGES[1][0]:
            raise ZeroDivisionError("no such page")
        return judge(method, page)

    return judge_most


@pytest.mark.fails_on_a_page
def test_the_command_names_the_page_that_fails_writes_the_others_and_ends_with_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "pages.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(json.dumps({"url": url, "html": html}) + "\n" for url, html in PAGES))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LinkRatio, "judge", raising(LinkRatio.judge))
    words = "clean", file, "--method", "link_ratio", "--workers", 1, "-O", out
    assert denoise_here(*words) == 0
    said = capfd.readouterr().err
    assert "failed: 1 page to be cleaned, 0 to be learned" in said
    assert f"  {PAGES[1][0]}: ZeroDivisionError: no such page (test_failed_pages.py, line " in said
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(line["text"], bool(line["error"])) for line in lines] == [
        ("This is one.", False),
        ("", True),
        ("This is two.", False),
    ]
    assert denoise_here(*words, "--strict") == 1
