from pathlib import Path

import pytest
from scrapy.http import HtmlResponse, TextResponse
from scrapy.settings import Settings

from denoise_crawler.demo.replies import article_path, articles
from denoise_crawler.demo.server import DemoServer
from denoise_crawler.shell import clean
from tests.conftest import Project
from tests.programs import run_python

STORY = articles()[3]
TYPED = """from denoise_crawler.shell import clean
page = clean(response)
print("warm:", page.warm, page.text)
"""


def shell(project: Project, url: str) -> str:
    done = run_python(
        "-m", "scrapy", "shell", url, "--nolog", folder=project.folder, given=TYPED, SCRAPY_PYTHON_SHELL="python"
    )
    return done.stdout


def test_in_the_scrapy_shell_clean_gives_the_text_of_the_response(project: Project, server: DemoServer) -> None:
    printed = shell(project, server.url + article_path(STORY))
    assert f"warm: False {STORY.title}" in printed
    assert "All rights reserved" not in printed


def test_it_knows_what_crawls_of_the_project_have_learned(project: Project, server: DemoServer) -> None:
    start = ("-a", f"start_url={server.url}/en-us", "-a", "max_pages=6")
    project.crawl("site", *start, "-s", "DENOISE_WARMUP_PAGES=4")
    assert f"warm: True {STORY.title}" in shell(project, server.url + article_path(STORY))


def page(html: str) -> HtmlResponse:
    return HtmlResponse("https://example.com/", body=html.encode(), encoding="utf-8")


def settings(folder: Path, **others: object) -> Settings:
    return Settings({"DENOISE_STORE": str(folder / "none.sqlite"), **others})


def test_the_settings_hold_and_no_store_is_made(tmp_path: Path) -> None:
    text = "A sentence that is long enough to be the text of this page, and then some more of it. " * 3
    html = f"<nav><a href=/>Home</a> <a href=/w>World</a></nav><h2>Head</h2><p>{text}</p>"
    cleaned = clean(page(html), explain=True, settings=settings(tmp_path, DENOISE_FORM="markdown"))
    assert "## Head" in cleaned.text
    assert cleaned.explanation
    assert not any(tmp_path.iterdir())


def test_what_is_no_page_is_named(tmp_path: Path) -> None:
    answer = TextResponse("https://example.com/data.json", body=b"{}")
    with pytest.raises(ValueError, match=r"https://example\.com/data\.json is no HTML page but TextResponse"):
        clean(answer, settings=settings(tmp_path))
    with pytest.raises(ValueError, match="DENOISE_METHOD is 'magic'"):
        clean(page("<p>x"), settings=settings(tmp_path, DENOISE_METHOD="magic"))


def test_an_empty_page_has_no_text(tmp_path: Path) -> None:
    assert clean(page(""), settings=settings(tmp_path)).text == ""
