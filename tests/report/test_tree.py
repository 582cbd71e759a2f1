"""The style tree as data, as a page and for Graphviz; ``scrapy denoise tree``."""

import json
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from denoise_crawler import SiteStyleTree
from denoise_crawler.commands import tree as command
from denoise_crawler.methods import MethodChoice
from denoise_crawler.page import Page
from denoise_crawler.report.explorer import TreeData, tree_data, tree_dot
from denoise_crawler.store import Store
from tests.strategies import html_pages

NEWS = [f"<div id=top><a href=/>Home</a></div><p>来源 {name}</p>" for name in ("新华网", "人民网", "CCTV")]


def data_of(*bodies: str, max_nodes: int = 4_000, **options: object) -> TreeData:
    tree = SiteStyleTree(**options)  # type: ignore[arg-type]
    for number, body in enumerate(bodies):
        tree.add(Page.parse(f"https://example.com/{number}", body))
    return tree_data(tree, [], threshold=0.7, max_nodes=max_nodes)


def labels(data: TreeData) -> list[str]:
    return [data.labels[name] for name in data.names]


def test_the_blogs_worked_example_has_its_nodes_with_their_pages_and_importance() -> None:
    data = data_of(*NEWS)
    assert sorted(zip(labels(data), data.counts, map(round, data.importance, [1] * 7), strict=True)) == [
        ("a", 3, 0.0),
        ("body", 3, 0.3),
        ("div#top", 3, 0.0),
        ("p", 3, 0.7),
        ("text", 3, 0.0),
        ("text", 3, 0.8),
    ]
    kept = {label for label, peak in zip(labels(data), data.peaks, strict=True) if peak >= data.threshold}
    assert kept == {"body", "p", "text"}


def test_a_tree_for_graphviz_has_a_box_for_each_node_and_a_line_to_its_parent() -> None:
    dot = tree_dot(data_of(*NEWS, "<h1>One</h1>"))
    assert dot.count("[label=") == dot.count(" -> ") + 1
    assert r'label="div#top\nCompImp 0.00 · 3 pages", fillcolor="#f4f4f4"' in dot
    assert 'style="filled,dashed"' in dot
    assert r".\"x\".\\n" in tree_dot(data_of("""<p class='"x" \\n <b>' width="<1>">a</p>"""))


def test_no_more_nodes_are_shown_than_allowed_and_the_rest_is_counted() -> None:
    data = data_of(*NEWS, max_nodes=3)
    assert len(data.parents) == 3
    assert data.left_out == sum(data.left.values()) > 0


@given(pages=st.lists(html_pages(), max_size=4), collapse=st.booleans(), most=st.integers(1, 20))
def test_any_tree_can_be_drawn_within_its_limits(pages: list[str], collapse: bool, most: int) -> None:
    data = data_of(*pages, max_nodes=most, collapse=collapse)
    assert 1 <= len(data.parents) <= most
    assert tree_dot(data).count(" -> ") == len(data.parents) - 1


# --- scrapy denoise tree


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
    assert draw(pages, "-o", tmp_path / "tree.dot", "--site", "news.example", "--nodes", 3) == 0
    assert (tmp_path / "tree.dot").read_text("utf-8").count("[label=") == 3


def test_several_sites_are_named_and_one_is_asked_for(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for options in ((), ("--site", "third.test")):
        assert draw(pages, "-o", tmp_path / "tree.dot", *options) == 1
        assert "name it with --site. Found: news.example (3), other.test (1)" in capsys.readouterr().err
    assert not (tmp_path / "tree.dot").exists()


def test_the_command_draws_what_a_crawl_learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["-o", tmp_path / "tree.dot", "--store", stored(tmp_path, "style_tree")]
    assert draw(*wanted, "--site", "news.example") == 0
    assert r"CompImp 0.75 · 3 pages" in (tmp_path / "tree.dot").read_text("utf-8")
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
    assert draw("-o", tmp_path / "x.dot", "--store", stored(tmp_path, method), "--site", site) == 1
    assert "holds no style tree of this site (style_tree:64)" in (message := capsys.readouterr().err)
    assert "Name pages to have one learned" in message


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "none.sqlite"
    assert draw("-o", tmp_path / "x.dot", "--site", "a.test", "--store", store) == 1
    assert f"there is no store {store}" in capsys.readouterr().err
    assert not store.exists()


def test_a_file_that_is_there_or_of_another_kind_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "tree.dot").write_text("mine")
    (tmp_path / "folder.dot").mkdir()
    for arguments, said in (
        (["-o", "x.bmp"], r"x\.bmp does not end in \.html or \.dot"),
        (["-o", tmp_path / "tree.dot"], "is there already; name another file, or overwrite it with -O"),
        (["-O", tmp_path / "folder.dot"], "is a folder; name a file"),
    ):
        with pytest.raises(UsageError, match=said):
            draw(tmp_path / "none", *arguments)
    assert draw(tmp_path / "none", "-O", tmp_path / "tree.dot") == 1
    assert (tmp_path / "tree.dot").read_text() == "mine"


def test_paths_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert draw(tmp_path / "none", "-o", tmp_path / "x.dot") == 1
    assert "none" in capsys.readouterr().err
    assert draw(tmp_path, "-o", tmp_path / "x.dot") == 1
    assert "no page was found in" in capsys.readouterr().err
