"""``scrapy denoise tree``."""

import json
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from denoise_crawler.commands import tree as command
from denoise_crawler.methods import MethodChoice
from denoise_crawler.page import Page
from denoise_crawler.store import Store

NEWS = [f"<div id=top><a href=/>Home</a></div><p>来源 {name}</p>" for name in ("新华网", "人民网", "CCTV")]


def draw(*arguments: object, **settings: object) -> int:
    parser = ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(argument) for argument in arguments]), Settings(settings))


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A file with three pages of one site and one of another."""
    file = tmp_path / "pages.jsonl"
    rows = [{"url": f"https://news.example/{number}", "html": html} for number, html in enumerate(NEWS)]
    rows.append({"url": "https://other.test/", "html": "<p>Other"})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def stored(folder: Path, method: str) -> Path:
    learned = MethodChoice(method).new()
    for number, body in enumerate(NEWS):
        learned.observe(Page.parse(f"https://news.example/{number}", body))
    store = Store(folder / "store.sqlite")
    store.save_knowledge("news.example", learned.store_key, learned.to_bytes(), lambda parts: parts[-1])
    store.close()
    return folder / "store.sqlite"


def test_the_command_draws_the_named_site_of_pages_on_disk(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw(pages, "-o", tmp_path / "tree.html", "--site", "news.example") == 0
    html = (tmp_path / "tree.html").read_text("utf-8")
    assert "Style tree of news.example" in html
    assert "新华网" in html
    assert "index.html" not in html
    assert capsys.readouterr().out == f"{tmp_path / 'tree.html'}: news.example, 3 pages\n"


def test_several_sites_are_named_and_one_is_asked_for(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for options in ((), ("--site", "third.test")):
        assert draw(pages, "-o", tmp_path / "tree.html", *options) == 1
        assert "name it with --site. Found: news.example (3), other.test (1)" in capsys.readouterr().err
    assert not (tmp_path / "tree.html").exists()


def test_the_command_draws_what_a_crawl_learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["-o", tmp_path / "tree.html", "--store", stored(tmp_path, "style_tree")]
    assert draw(*wanted, "--site", "news.example") == 0
    assert "The tree is the one in the store." in (tmp_path / "tree.html").read_text("utf-8")
    wanted[0] = "-O"
    assert draw(*wanted) == 0  # the only site
    assert "news.example, 3 pages" in capsys.readouterr().out
    with closing(Store(tmp_path / "store.sqlite")) as store:
        store.save_knowledge("other.test", "style_tree:64", b"", lambda parts: parts[-1])
    assert draw(*wanted) == 1
    assert "name it with --site. Found: news.example (1), other.test (1)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "site"), [("fusion", "news.example"), ("feature_tree", "news.example"), ("style_tree", "a.test")]
)
def test_a_store_without_the_tree_says_so_and_how_to_get_one(
    method: str, site: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw("-o", tmp_path / "x.html", "--store", stored(tmp_path, method), "--site", site) == 1
    assert "holds no style tree of this site (style_tree:64)" in (message := capsys.readouterr().err)
    assert "Name pages to have one learned" in message


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "none.sqlite"
    assert draw("-o", tmp_path / "x.html", "--site", "a.test", "--store", store) == 1
    assert f"there is no store {store}" in capsys.readouterr().err
    assert not store.exists()


def test_a_file_that_is_there_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "tree.html").write_text("mine")
    with pytest.raises(UsageError, match="is there already; name another file, or overwrite it with -O"):
        draw(tmp_path / "none", "-o", tmp_path / "tree.html")
    assert draw(tmp_path / "none", "-O", tmp_path / "tree.html") == 1
    assert (tmp_path / "tree.html").read_text() == "mine"


def test_paths_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert draw(tmp_path / "none", "-o", tmp_path / "x.html") == 1
    assert "none" in capsys.readouterr().err
    assert draw(tmp_path, "-o", tmp_path / "x.html") == 1
    assert "no page and no site was found" in capsys.readouterr().err
