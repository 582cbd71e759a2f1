import json
import re
import shutil
import stat
from argparse import ArgumentParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from denoise_crawler import SiteStyleTree
from denoise_crawler.commands import tree as tree_command
from denoise_crawler.errors import DrawingError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.drawing import render_dot, tree_dot
from denoise_crawler.page import Page
from denoise_crawler.store import Store
from tests.strategies import html_pages

BLUE, GREY = 'color="#d0021b" fillcolor="#d3e3ff"', 'color="#f5c400" fillcolor="#cecece"'
NEWS = [f"<div id=top><a href=/>Home</a></div><p>来源 {name}</p>" for name in ("新华网", "人民网", "CCTV")]


def tree_of(*bodies: str, **options: object) -> SiteStyleTree:
    tree = SiteStyleTree(**options)  # type: ignore[arg-type]
    for number, body in enumerate(bodies):
        tree.add(Page.parse(f"https://example.com/{number}", body))
    return tree


def boxes(dot: str) -> dict[str, tuple[str, str]]:
    """The drawn nodes: name to label and style."""
    found = re.findall(r'^\t(n\d+) \[label="((?:[^"\\]|\\.)*)" (.*?)\]$', dot, re.MULTILINE | re.DOTALL)
    return {name: (label, style) for name, label, style in found}


def labels(dot: str) -> list[str]:
    return [label.replace("\n", "|") for label, _ in boxes(dot).values()]


def edges(dot: str) -> list[tuple[str, str]]:
    return re.findall(r"^\t(n\d+) -> (n\d+)(?: \[weight=100\])?$", dot, re.MULTILINE)


def drawn(tree: SiteStyleTree, **limits: int) -> str:
    return tree_dot(tree, threshold=0.7, **limits)  # type: ignore[arg-type]


# --- dot


def test_the_blogs_worked_example_is_drawn_with_its_element_and_style_nodes() -> None:
    dot = drawn(tree_of(*NEWS)).replace("0.67 ·", "0.68 ·")  # 0.675: either is right
    content, noise = f"{BLUE} style=filled", f"{GREY} style=filled"
    assert boxes(dot) == {
        "n0": ("body\n0.30 · 3 pages", content),
        "n1": ("3 pages\ndiv#top\np", f'{BLUE} style="filled,dashed,rounded"'),
        "n2": ("div#top\n0.00 · 3 pages", noise),
        "n3": ("p\n0.68 · 3 pages", content),  # kept for the text below it
        "n4": ("3 pages\ntext", f'{BLUE} style="filled,dashed,rounded"'),
        "n5": ("text\n0.75 · 3 pages", content),
        "n6": ("3 pages\na", f'{GREY} style="filled,dashed,rounded"'),
        "n7": ("a\n0.00 · 3 pages", noise),
        "n8": ("3 pages\ntext", f'{GREY} style="filled,dashed,rounded"'),
        "n9": ("text\n0.00 · 3 pages", noise),
    }
    below = ["n0 n1", "n1 n2", "n1 n3", "n3 n4", "n4 n5", "n2 n6", "n6 n7", "n7 n8", "n8 n9"]
    assert [" ".join(pair) for pair in edges(dot)] == below


def test_the_root_stands_at_the_top_left_where_a_window_opens() -> None:
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    wide = [f"<div>{'<p>One <b>two</b></p><hr>' * 4}{body}</div>" * 4 for body in NEWS]
    drawing = render_dot(drawn(tree_of(*wide, collapse=False), max_nodes=400), "svg").decode()
    height = float(re.findall(r'viewBox="0.00 0.00 [\d.]+ ([\d.]+)"', drawing)[0])
    [(left, top)] = re.findall(r'<title>n0</title>\n<polygon .*?points="([\d.]+),-([\d.]+) ', drawing)
    assert float(left) < 200
    assert height - float(top) < 100 < height / 4


def test_equal_trees_give_equal_drawings_whatever_the_order_of_their_pages() -> None:
    there, back = SiteStyleTree(), SiteStyleTree()
    pages = [Page.parse(f"https://example.com/{number}", body) for number, body in enumerate(NEWS)]
    for one in pages:
        there.add(one)
    for one in reversed(pages):
        back.add(one)
    assert tree_dot(there) == tree_dot(back)


def test_drawing_changes_nothing_in_the_tree() -> None:
    tree = tree_of(*NEWS, "<h1>Other</h1>")
    page = Page.parse("https://example.com/0", NEWS[0])
    before, standings = tree.to_bytes(), tree.importances(page)
    tree_dot(tree, min_pages=1)
    assert tree.to_bytes() == before
    assert tree.importances(page) == standings


def test_styles_of_few_pages_are_folded_and_counted() -> None:
    tree = tree_of(*NEWS, "<h1>One</h1>", "<h2>Two</h2><h2>Three</h2>", "<h3>Four</h3>")
    assert "body|0.64 · 6 pages|+3 styles of one page each" in labels(drawn(tree))
    assert not any(label.startswith("h2") for label in labels(drawn(tree)))
    assert "+4 styles of fewer than 4 pages each" in labels(drawn(tree, min_pages=4))[0]
    unfolded = labels(drawn(tree, min_pages=1))
    assert "1 page|h2+" in unfolded
    assert "h2+|0.90 · 1 page" in unfolded


def test_a_tree_of_one_page_is_drawn_whole() -> None:
    assert labels(drawn(tree_of("<p>One</p>"))) == [
        "body|0.81 · 1 page",
        "1 page|p",
        "p|0.90 · 1 page",
        "1 page|text",
        "text|1.00 · 1 page",
    ]


def test_long_sequences_are_shortened_and_their_noise_is_left_out_first() -> None:
    tags = ["abbr", "b", "big", "cite", "code", "del", "dfn", "em", "i", "kbd"]
    tree = tree_of(
        *("".join(f"<{tag}>{tag}</{tag}>" for tag in tags) + f"<p>{word}</p>" for word in ("one", "two"))
    )
    dot = drawn(tree, depth=1)
    assert "2 pages|abbr|b|big|cite|code|del|… 5 more|… 3 not drawn" in labels(dot)
    assert any(label.startswith("p|") for label in labels(dot))


def test_below_the_depth_the_styles_are_counted() -> None:
    assert labels(drawn(tree_of(*NEWS), depth=0)) == ["body|0.30 · 3 pages|… 1 style below"]
    assert "div#top|0.00 · 3 pages|… 1 style below" in labels(drawn(tree_of(*NEWS), depth=1))


def test_no_more_nodes_are_drawn_than_allowed_and_the_inside_of_noise_goes_first() -> None:
    dot = drawn(tree_of(*NEWS), max_nodes=6)
    assert [label.partition("|")[0] for label in labels(dot)] == [
        "body",
        "3 pages",
        "div#top",
        "p",
        "3 pages",
        "text",
    ]
    assert labels(dot)[2] == "div#top|0.00 · 3 pages|… 1 not drawn"
    assert "… 1 more next to the 6 nodes that are drawn" in dot


def test_labels_with_quotes_and_backslashes_stay_labels() -> None:
    tree = tree_of("""<p class='"x" \\n <b>' width="<1>">a</p>""")
    dot = drawn(tree)
    assert r".\"x\".\\n" in dot
    if shutil.which("dot"):
        assert b"&quot;x&quot;" in render_dot(dot, "svg")


@given(pages=st.lists(html_pages(), max_size=4), collapse=st.booleans(), most=st.integers(1, 20))
def test_any_tree_can_be_drawn_within_its_limits(pages: list[str], collapse: bool, most: int) -> None:
    tree = tree_of(*pages, collapse=collapse)
    for least in (1, 2):
        dot = drawn(tree, max_nodes=most, min_pages=least)
        assert 1 <= len(boxes(dot)) <= most
        assert len(edges(dot)) == len(boxes(dot)) - 1


def test_a_tree_of_large_and_deep_pages_can_be_drawn() -> None:
    deep = "<div>" * 1_500 + "deep"
    wide = "<ul>" + "<li><b>one</b> two" * 10_000 + "</ul>"
    tree = tree_of(deep, deep, wide, wide)
    assert len(boxes(tree_dot(tree, depth=3_000, max_nodes=5_000))) > 3_000
    assert "2 pages|li+" in labels(tree_dot(tree))


# --- pictures


@pytest.mark.parametrize(("name", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_graphviz_makes_pictures(name: str, start: bytes) -> None:
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    assert render_dot(drawn(tree_of(*NEWS)), name).startswith(start)


def test_without_graphviz_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DrawingError, match=r"Graphviz is not installed.*apt install graphviz"):
        render_dot("digraph {}", "svg")


def test_graphviz_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow = tmp_path / "dot"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DrawingError, match=r"did not finish within 0.1 seconds: draw less"):
        render_dot("digraph {}", "svg", seconds=0.1)


def test_what_graphviz_complains_of_is_passed_on() -> None:
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    with pytest.raises(DrawingError, match=r"Graphviz failed: .*syntax error"):
        render_dot("digraph {", "svg")
    with pytest.raises(DrawingError, match=r"the formats are dot, svg, pdf, png"):
        render_dot("digraph {}", "plain:x")


# --- scrapy denoise tree


def draw(*arguments: object, **settings: object) -> int:
    parser = ArgumentParser()
    tree_command.add_arguments(parser)
    return tree_command.run(parser.parse_args([str(argument) for argument in arguments]), Settings(settings))


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A file with three pages of one site and one of another."""
    file = tmp_path / "pages.jsonl"
    urls = ["https://news.example/1", "https://news.example/2", "https://news.example/3"]
    rows = [{"url": url, "html": html} for url, html in zip(urls, NEWS, strict=True)]
    rows.append({"url": "https://other.test/", "html": "<p>Other"})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def test_the_command_draws_the_named_site_of_pages_on_disk(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw(pages, "-o", tmp_path / "tree.dot", "--site", "news.example") == 0
    assert "text|0.75 · 3 pages" in labels((tmp_path / "tree.dot").read_text("utf-8"))
    assert capsys.readouterr().out == f"{tmp_path / 'tree.dot'}: news.example, 3 pages\n"


def test_several_sites_are_named_and_one_is_asked_for(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw(pages, "-o", tmp_path / "tree.dot") == 1
    message = "name it with --site. Found (pages): news.example (3), other.test (1)"
    assert message in capsys.readouterr().err
    assert draw(pages, "-o", tmp_path / "tree.dot", "--site", "third.test") == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "tree.dot").exists()


def test_the_command_draws_what_a_crawl_learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    method = MethodChoice("style_tree").new()
    for number, body in enumerate(NEWS):
        method.observe(Page.parse(f"https://news.example/{number}", body))
    store = Store(tmp_path / "store.sqlite")
    store.save_knowledge("news.example", method.store_key, method.to_bytes(), lambda parts: parts[-1])
    store.close()
    wanted = ["-o", tmp_path / "tree.dot", "--store", tmp_path / "store.sqlite"]
    assert draw(*wanted, "--site", "news.example") == 0
    assert "text|0.75 · 3 pages" in labels((tmp_path / "tree.dot").read_text("utf-8"))
    capsys.readouterr()
    assert draw("-o", tmp_path / "x.dot", "--site", "a.test", DENOISE_STORE=str(tmp_path / "store.sqlite")) == 1
    message = "has no style tree of 'a.test': it knows nothing of this site. Name another with --site"
    assert message in capsys.readouterr().err
    wanted[0] = "-O"
    assert draw(*wanted) == 1
    assert "with --site the site to take" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("fusion", "it holds what fusion learned, which has no tree. Name pages to learn a tree from, or crawl"),
        ("feature_tree", "crawl with DENOISE_METHOD = 'style_tree'"),
        ("style_tree", "it holds style_tree:32 instead of style_tree:64. Set DENOISE_METHOD to 'style_tree'"),
    ],
)
def test_a_store_without_the_tree_says_what_it_holds_and_how_to_get_one(
    method: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options: dict[str, object] = {"features_per_leaf": 32} if method == "style_tree" else {}
    learned = MethodChoice(method, options).new()
    learned.observe(Page.parse("https://news.example/1", NEWS[0]))
    store = Store(tmp_path / "store.sqlite")
    store.save_knowledge("news.example", learned.store_key, learned.to_bytes(), lambda parts: parts[-1])
    store.close()
    wanted = ["-o", tmp_path / "tree.dot", "--store", tmp_path / "store.sqlite", "--site", "news.example"]
    assert draw(*wanted) == 1
    message = capsys.readouterr().err
    assert said in message
    assert message.count("\n") == 1
    if options:
        assert draw(*wanted, DENOISE_METHOD="style_tree", DENOISE_METHOD_OPTIONS=options) == 0


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "none.sqlite"
    assert draw("-o", tmp_path / "x.dot", "--site", "a.test", "--store", store) == 1
    assert f"there is no store {store}" in capsys.readouterr().err
    assert not store.exists()


def test_the_command_takes_limits_and_the_methods_options(pages: Path, tmp_path: Path) -> None:
    wanted = [pages, "--site", "news.example", "-o", tmp_path / "tree.dot"]
    assert draw(*wanted, "--depth", 1, "--max-nodes", 3, "--min-pages", 1, "--no-collapse") == 0
    dot = (tmp_path / "tree.dot").read_text("utf-8")
    assert len(boxes(dot)) == 3
    assert "read as one" not in dot
    wanted[-2] = "-O"
    assert draw(*wanted, DENOISE_METHOD="style_tree", DENOISE_METHOD_OPTIONS={"threshold": 0.5}) == 0
    assert "importance 0.5 or more" in (tmp_path / "tree.dot").read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [["-o", "x.dot", "-O", "x.dot"], ["-o", "x.dot", "--depth", "-1"], ["-o", "x.dot", "--max-nodes", "0"]],
)
def test_wrong_arguments_end_the_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        draw(*arguments)
    assert re.search(r"not allowed with|is not a whole number", capsys.readouterr().err)


def test_a_file_that_is_there_or_of_another_kind_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "tree.dot").write_text("mine")
    (tmp_path / "folder.dot").mkdir()
    for arguments, said in (
        (["-o", "x.bmp"], r"x\.bmp does not end in \.dot"),
        (["-o", tmp_path / "tree.dot"], "is there already; name another file, or overwrite it with -O"),
        (["-O", tmp_path / "folder.dot"], "is a folder; name a file"),
    ):
        with pytest.raises(UsageError, match=said):
            draw(tmp_path / "none", *arguments)
    assert (tmp_path / "tree.dot").read_text() == "mine"
    assert draw(tmp_path / "none", "-O", tmp_path / "tree.dot") == 1
    assert (tmp_path / "tree.dot").read_text() == "mine"


def test_paths_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert draw(tmp_path / "none", "-o", tmp_path / "x.dot") == 1
    assert "none" in capsys.readouterr().err
    assert draw(tmp_path, "-o", tmp_path / "x.dot") == 1
    assert "no page was found in" in capsys.readouterr().err
