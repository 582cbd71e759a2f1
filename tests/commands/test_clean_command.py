"""``scrapy denoise clean``."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import time
from argparse import Namespace
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exporters import JsonLinesItemExporter
from scrapy.settings import Settings

from denoise_crawler import CleanPage, denoise_pages
from denoise_crawler.commands.clean_output import FileNames, readable_name, site_folder
from denoise_crawler.commands.method_choice import settings_with_method
from denoise_crawler.methods import MethodChoice
from examples.demo_site.replies import article_path, articles, respond
from tests.programs import run_program
from tests.scrapy_process import command, denoise, environment, group_lives, on_a_terminal

SETTINGS = "BOT_NAME = 'p'\nDENOISE_METHOD = 'link_ratio'\nDENOISE_METHOD_OPTIONS = {'threshold': 0.4}\n"
PROMISED = {field.name for field in fields(CleanPage)}


def pages(count: int = 6) -> list[tuple[str, str]]:
    base = "https://news.example"
    found = articles()[:count]
    return [(base + article_path(story), respond(article_path(story), base).body.decode()) for story in found]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of pages in it, and no project."""
    write_pages(tmp_path / "pages.jsonl")
    return tmp_path


def write_pages(path: Path, count: int = 6) -> None:
    path.write_text("".join(json.dumps({"url": url, "html": html}) + "\n" for url, html in pages(count)))


def as_feed(**changes: Any) -> bytes:
    """Return what a Scrapy feed of the pages would hold."""
    feed = io.BytesIO()
    exporter = JsonLinesItemExporter(feed, encoding="utf-8")
    for page in denoise_pages(pages(), method="style_tree"):
        exporter.export_item({**asdict(page), **changes})
    return feed.getvalue()


# --- what it writes


def test_in_an_empty_folder_pages_become_the_lines_of_a_feed(folder: Path) -> None:
    done = denoise(
        folder, "clean", "pages.jsonl", "-o", "new/out.jsonl", "--workers", "2", "--method", "style_tree"
    )
    assert (folder / "new/out.jsonl").read_bytes() == as_feed(warm=False)
    assert set(lines(folder / "new/out.jsonl")[0]) == PROMISED
    assert done.stdout == ""
    assert "6 pages of 1 site in" in done.stderr
    assert "(style_tree, 2 workers)" in done.stderr
    assert "damage" not in done.stderr


def test_in_a_project_its_settings_count_and_the_command_line_wins(folder: Path) -> None:
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = own_settings\n")
    (folder / "own_settings.py").write_text(SETTINGS)
    one = ("clean", "pages.jsonl", "--workers", "1", "-O", "out.jsonl")

    def is_result_of(method: str, **options: Any) -> bool:
        texts = [page.text for page in denoise_pages(pages(), method=method, **options)]
        found = lines(folder / "out.jsonl")
        return [line["text"] for line in found] == texts and {line["method"] for line in found} == {method}

    denoise(folder, *one)
    assert is_result_of("link_ratio", threshold=0.4)
    denoise(folder, *one, "--option", "threshold=0.9")
    assert is_result_of("link_ratio", threshold=0.9)
    denoise(folder, *one, "-s", "DENOISE_METHOD_OPTIONS={}")
    assert is_result_of("link_ratio")
    denoise(folder, *one, "--method", "style_tree", "-s", "DENOISE_WARMUP_PAGES=6")
    assert is_result_of("style_tree")
    assert {line["warm"] for line in lines(folder / "out.jsonl")} == {True}


def test_options_of_the_default_method_count_where_the_command_names_that_method() -> None:
    project = Settings({"DENOISE_METHOD_OPTIONS": {"favour": "recall"}})
    for method, options in (("fusion", {"favour": "recall"}), ("link_ratio", {})):
        chosen = settings_with_method(Namespace(method=method, option=[]), project, {})
        assert chosen.choice == MethodChoice(method, options)


def test_o_appends_and_capital_o_overwrites(folder: Path) -> None:
    for option, expected in (("-o", 6), ("-o", 12), ("-O", 6)):
        denoise(folder, "clean", "pages.jsonl", option, "out.jsonl", "--workers", "1", "--method", "link_ratio")
        assert len(lines(folder / "out.jsonl")) == expected


def test_without_an_output_the_lines_and_nothing_else_go_to_stdout(folder: Path) -> None:
    for output in ((), ("-o", "-")):
        done = denoise(folder, "clean", "pages.jsonl", *output, "--workers", "1", "--method", "link_ratio")
        assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == [url for url, _ in pages()]


@pytest.mark.parametrize(
    ("rendering", "ending"),
    [("text", ".txt"), ("markdown", ".md"), ("html", ".html"), ("painted", ".html"), ("annotated", ".html")],
)
def test_other_renderings_become_a_file_a_page(folder: Path, rendering: str, ending: str) -> None:
    output = ("--as", rendering, "--method", "link_ratio", "--workers", "1")
    denoise(folder, "clean", "pages.jsonl", "-o", "out", *output)
    files = sorted((folder / "out" / "news.example").glob(f"*{ending}"))
    assert {file.stem for file in files} == {readable_name(url) for url, _ in pages()}
    expected = next(iter(denoise_pages(pages(), method="link_ratio")))
    text = (folder / "out" / "news.example" / f"{readable_name(expected.url)}{ending}").read_text("utf-8")
    assert expected.text.splitlines()[0] in text
    assert text.startswith("---\ntitle: ") == (rendering == "markdown")
    again = denoise(folder, "clean", "pages.jsonl", "-o", "out", *output, code=2)
    assert "out is not empty" in again.stderr
    denoise(folder, "clean", "pages.jsonl", "-O", "out", *output)


def test_damage_is_reported_and_only_with_strict_an_error(folder: Path) -> None:
    with (folder / "pages.jsonl").open("a") as file:
        file.write('{"url": "https://news.example/cut", "html": "<p>\n')
    arguments = ("clean", "pages.jsonl", "-O", "out.jsonl", "--method", "link_ratio", "--workers", "1")
    done = denoise(folder, *arguments)
    assert "damage: 1 broken line" in done.stderr
    assert "broken line: pages.jsonl, byte" in done.stderr
    denoise(folder, *arguments, "--strict", code=1)
    assert len(lines(folder / "out.jsonl")) == 6


ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


def hostile_archive(path: Path) -> None:
    """Write an archive whose every word is an escape sequence, beside a sound page."""

    def record(url: str, message: str) -> bytes:
        raw = message.encode()
        return f"version: 1.0\nurl: {url}\nlength: {len(raw)}\n\n".encode() + raw + b"\n"

    headers = "HTTP/1.1 200 OK\nContent-Type: text/html{}\n\n"
    path.write_bytes(
        record(f"http://a.example/{ESCAPES}", headers.format(f"\nContent-Encoding: {ESCAPES}") + ESCAPES)
        + record(f"http://a.example/{ESCAPES}", headers.format("") + f"<title>{ESCAPES}</title><p>{ESCAPES} words")
        + f"{ESCAPES}\n".encode() * 3
        + record("http://a.example/sound", headers.format("; charset=idna") + "<p>A sound page")
    )


def test_nothing_of_an_archive_reaches_the_terminal_as_an_escape_sequence(folder: Path) -> None:
    hostile_archive(folder / "hostile.cwt")
    (folder / "no-warc").write_bytes(f"WARC/1.0\r\nWARC-Type: {ESCAPES}\r\nContent-Length: 0\r\n\r\n".encode())
    for name, arguments in {
        "clean": ("hostile.cwt", "no-warc", "--workers", "1"),
        "explain": ("hostile.cwt",),
        "tree": ("hostile.cwt", "-O", "tree.html"),
        "report": ("hostile.cwt", "no-warc", "-o", "report"),
    }.items():
        for stream in ("stderr", "stdout"):
            shown = on_a_terminal(folder, name, *arguments, stream=stream, TERM="dumb", NO_COLOR="1")
            assert not {"\x07", "\x9b", "\u202e"} & set(shown.decode()), name
            assert b"\x1b]0;" not in shown, name
            assert b"\x1b[2J" not in shown, name
            shutil.rmtree(folder / "report", ignore_errors=True)


def test_the_json_of_a_page_is_the_same_on_a_terminal_but_for_how_it_is_written(folder: Path) -> None:
    hostile_archive(folder / "hostile.cwt")
    arguments = ("clean", "hostile.cwt", "--workers", "1", "--method", "link_ratio")
    shown = on_a_terminal(folder, *arguments, stream="stdout").decode()
    plain = denoise(folder, *arguments).stdout
    assert [json.loads(line) for line in shown.splitlines()] == [json.loads(line) for line in plain.splitlines()]
    assert "\x9b" in plain
    assert "\x9b" not in shown


def test_no_page_at_all_is_an_error(folder: Path) -> None:
    (folder / "broken.jsonl").write_text("no json\n")
    done = denoise(folder, "clean", "broken.jsonl", "-o", "out.jsonl", "--workers", "1", code=1)
    assert "0 pages" in done.stderr
    assert "damage: 1 broken line" in done.stderr


def test_on_a_terminal_a_bar_shows_how_far_it_is(folder: Path) -> None:
    arguments = ("clean", "pages.jsonl", "-o", "out.jsonl", "--workers", "1", "--method", "style_tree")
    shown = on_a_terminal(folder, *arguments, stream="stderr", TERM="xterm", COLUMNS="100")
    assert b"learning" in shown
    assert b"cleaning" in shown
    assert b"100 %  6 pages" in shown
    assert shown.count(b"6 pages of 1 site") == 1


# --- how it ends early


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_processes_and_leaves_whole_lines(folder: Path, by: signal.Signals) -> None:
    write_pages(folder / "many.jsonl", 40)
    temporary = folder / "temporary"
    temporary.mkdir()
    with subprocess.Popen(
        command("clean", *["many.jsonl"] * 40, "-o", "out.jsonl", "--method", "link_ratio", "--workers", "2"),
        cwd=folder,
        env=environment(TMPDIR=str(temporary)),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 60
        while not (folder / "out.jsonl").exists() or not (folder / "out.jsonl").stat().st_size:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        # Ctrl-C goes to all processes of the terminal, what ends a service to the first one
        (os.killpg if by == signal.SIGINT else os.kill)(process.pid, by)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert "interrupted; " in said
    assert "Traceback" not in said
    assert list(temporary.iterdir()) == []
    while group_lives(process.pid):  # Python's own resource tracker ends when it sees that it is alone
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert 0 < len(lines(folder / "out.jsonl")) < 1600


def killed_after(lines_or_files: int, folder: Path, *arguments: str) -> None:
    """Kill the command with all its processes when its output has grown by so many lines, or files."""
    out = folder / "out"

    def size() -> int:
        if out.is_dir():
            return sum(not file.name.startswith(".") for file in out.glob("*/*"))
        return out.read_bytes().count(b"\n") if out.exists() else 0

    before, deadline = size(), time.monotonic() + 300
    with subprocess.Popen(
        command("clean", *arguments),
        cwd=folder,
        env=environment(TMPDIR=str(folder / "temporary")),
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        while size() < before + lines_or_files:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("rendering", ["jsonl", "markdown"])
def test_a_run_that_was_killed_twice_is_resumed_as_if_it_had_not_been(folder: Path, rendering: str) -> None:
    many = [(f"{url}?copy={copy}", html) for copy in range(15) for url, html in pages(12)]
    twice = many + many[:20]  # at the same addresses
    (folder / "many.jsonl").write_text(
        "".join(json.dumps({"url": url, "html": html}) + "\n" for url, html in twice)
    )
    (folder / "temporary").mkdir()
    arguments = ("many.jsonl", "--as", rendering, "-o", "out", "--method", "style_tree", "--workers", "2")
    killed_after(20, folder, *arguments)
    if rendering == "jsonl":
        with (folder / "out").open("a") as file:
            file.write('{"url": "https://news.example/cut')
    killed_after(20, folder, *arguments, "--resume")
    done = run_program(*command("clean", *arguments, "--resume"), folder=folder, TMPDIR=str(folder / "temporary"))
    counts = re.search(r"(\d+) pages of[^$]*an earlier run: (\d+) pages", done.stderr)
    assert counts is not None, done.stderr
    cleaned, held = map(int, counts.groups())
    assert held >= 40
    assert held + cleaned == len(twice)
    assert list((folder / "temporary").iterdir()) == []
    denoise(folder, "clean", *arguments[:4], "whole", *arguments[5:])
    if rendering == "jsonl":
        assert (folder / "out").read_bytes() == (folder / "whole").read_bytes()
        return
    files = {file.name: file.read_bytes() for file in (folder / "whole" / "news.example").iterdir()}
    assert len(files) == len(twice)
    assert {file.name: file.read_bytes() for file in (folder / "out" / "news.example").iterdir()} == files


def test_a_folder_of_a_living_process_and_one_of_another_program_stay(folder: Path) -> None:
    temporary = folder / "temporary"
    (temporary / "denoise-other").mkdir(parents=True)
    (temporary / "denoise-linked.lock").symlink_to(folder / "pages.jsonl")
    for name in ("living", "dead"):
        (temporary / f"denoise-{name}").mkdir()
        (temporary / f"denoise-{name}.lock").touch()
    with FileLock(temporary / "denoise-living.lock"):
        arguments = ("clean", "pages.jsonl", "-o", "out", "--method", "link_ratio", "--workers", "1")
        run_program(*command(*arguments), folder=folder, TMPDIR=str(temporary))
        left = {file.name for file in temporary.iterdir()}
    assert left == {"denoise-other", "denoise-linked.lock", "denoise-living", "denoise-living.lock"}
    assert (folder / "pages.jsonl").stat().st_size


def test_a_reader_that_has_enough_is_no_error(folder: Path) -> None:
    write_pages(folder / "many.jsonl", 40)
    arguments = command("clean", *["many.jsonl"] * 10, "--method", "link_ratio", "--workers", "1")
    with subprocess.Popen(
        arguments, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["url"] == pages()[0][0]
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


# --- wrong usage


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["clean", "notes.txt"], "notes.txt is of no known format; what is understood: a folder, WARC (.warc)"),
        (["clean", "pages.jsonl", "--method", "none"], "DENOISE_METHOD is 'none': set it to one of"),
        (
            ["clean", "pages.jsonl", "--method", "link_ratio", "--option", "color=1"],
            "'link_ratio' does not take these",
        ),
        (["clean", "pages.jsonl", "--option", "threshold"], "'threshold' is not of the form NAME=VALUE"),
        (["clean", "pages.jsonl", "--option", "threshold=high"], "'high' is not JSON"),
        (["clean", "pages.jsonl", "--workers", "0"], "'0' is wrong: give a whole number, 1 or more"),
        (["clean", "pages.jsonl", "-o", "a", "-O", "b"], "-O/--overwrite-output: not allowed with argument -o"),
        (["clean", "pages.jsonl", "-O", "pages.jsonl"], "pages.jsonl lies in what is read"),
        (["clean", ".", "-o", "new/out.jsonl"], "out.jsonl lies in what is read (.)"),
        (["clean", "pages.jsonl", "--as", "html"], "name a folder with -o"),
        (["clean", "pages.jsonl", "--as", "html", "-o", "-"], "stdout cannot take"),
        (["clean", "pages.jsonl", "--as", "html", "-o", "notes.txt"], "notes.txt is a file; name a folder"),
        (["clean", "pages.jsonl", "-o", "sub"], "sub is a folder; name a file"),
        (["clean", "pages.jsonl", "--as", "pdf"], "invalid choice: 'pdf'"),
        (["clean", "pages.jsonl", "--as", "text", "--form", "markdown", "-o", "new"], "or name --as markdown"),
        (["clean", "pages.jsonl", "--as", "html", "--form", "blocks", "-o", "new"], "or name --as jsonl"),
        (["clean", "pages.jsonl", "--format", "markdown"], "what is written is --form markdown"),
        (["clean", "pages.jsonl", "--resume"], "name it with -o"),
        (["clean", "pages.jsonl", "--resume", "-o", "notes.txt"], "notes.txt is no output of this command"),
        (["clean"], "the following arguments are required: PATH"),
        (["clean", "pages.jsonl", "--fast"], "clean does not know: --fast"),
        (["clean", "pages.jsonl", "-s", "DENOISE_WARMUP_PAGES=few"], "DENOISE_WARMUP_PAGES is 'few'"),
        (
            ["clean", "pages.jsonl", "--option", "title=1", "-s", "DENOISE_METHOD_OPTIONS=title"],
            "DENOISE_METHOD_OPTIONS is 'title': set it to a dict",
        ),
    ],
)
def test_wrong_usage_is_told_in_a_line_and_changes_nothing(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "notes.txt").write_text("Dear diary")
    (folder / "sub").mkdir()
    before = sorted(folder.iterdir())
    done = denoise(folder, *arguments, code=2)
    assert said in done.stderr.splitlines()[-1]
    assert sorted(folder.iterdir()) == before
    assert done.stdout == ""


def test_help_names_the_subcommands_and_their_options(folder: Path) -> None:
    general = denoise(folder, "-h").stdout
    assert "clean pages on disk" in general
    own = denoise(folder, "clean", "-h").stdout
    assert "scrapy denoise clean [-h]" in own
    for option in ("--method", "--workers", "--as", "-O", "--strict", "Exit codes", "PATH"):
        assert option in own


# --- names of files


@given(url=st.one_of(st.text(), st.text().map("https://a.example/{}".format)))
def test_a_name_made_of_any_address_is_safe(url: str) -> None:
    for name in (readable_name(url), site_folder(url)):
        assert len(name.encode("utf-8", "surrogatepass")) <= 245
        assert not set(name) & set('/\\:*?"<>|\0\n ')
        assert not name.startswith(".")
        assert not name.endswith(".")
    assert site_folder(url)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.example/2019/05/a-story.html", "2019_05_a-story"),
        ("https://a.example/%E6%96%B0%E9%97%BB?id=3&p=2", "新闻_id_3_p_2"),
        ("https://a.example/../../etc/passwd", "etc_passwd"),
        ("https://a.example/nul.html", "_nul"),
        ("https://a.example/", "index"),
        ("http://[broken", "index"),
    ],
)
def test_a_name_can_be_read(url: str, name: str) -> None:
    assert readable_name(url) == name


def test_no_two_pages_have_one_name() -> None:
    names = FileNames(".md")
    paths = ("", "index.html", "a/b", "a_b", "A_b", "a_b?", "a_b~2")
    assert [names.new("a.example", f"https://a.example/{path}").removeprefix("a.example/") for path in paths] == [
        *("index.md", "index~2.md", "a_b.md", "a_b~2.md", "A_b~3.md", "a_b~4.md", "a_b_2.md")
    ]
