import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from denoise_crawler.commands.denoise import SUBCOMMANDS
from denoise_crawler.commands.page_input import reading_bar
from denoise_crawler.reading import Reading
from tests.example_files import write_examples
from tests.scrapy_process import command, denoise_here, interrupted_while_fetching

STYLE = re.compile(r"\x1b\[[\d;]*m")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:[349][0-7]|[34]8;[\d;]+)m")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pages in it, and what is no store."""
    made = tmp_path_factory.mktemp("console")
    write_examples(made, 4)
    (made / "broken.sqlite").write_text("not a store")
    return made


# --- mistakes


@pytest.mark.parametrize(
    ("arguments", "code", "way_out"),
    [
        ([], 2, "name what to do: clean, tree, explain, report"),
        (["wash"], 2, "invalid choice: 'wash' (choose from"),
        (["clean"], 2, "scrapy denoise clean -h tells more"),
        (["clean", "mirror", "-s", "DENOISE_FORM=pdf"], 2, "set it to one of text, markdown"),
        (["explain", "saved.html", "--store", "broken.sqlite"], 1, "Move it away or name another file"),
        (["report", "mirror", "-o", "mirror"], 2, "name another place"),
        (["report", "-o", "report", "-s", "DENOISE_STORE=gone.sqlite"], 2, "name a store or pages"),
        (["evaluate", "gold.jsonl", "--methods", "best"], 2, "invalid choice: 'best' (choose from 'fusion'"),
        (["evaluate", "gold.jsonl", "--sites-with", "0"], 2, "'0' is wrong: give a whole number, 1 or more"),
        (["evaluate"], 2, "GOLD"),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, list) else "",
)
def test_a_mistake_is_told_in_one_line_with_the_way_out(
    folder: Path,
    arguments: list[str],
    code: int,
    way_out: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert denoise_here(*arguments) == code
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert way_out in line
    assert said.out == ""


def test_ctrl_c_ends_in_one_line(folder: Path) -> None:
    assert interrupted_while_fetching(command("explain"), folder) == ("interrupted\n", 130)


# --- help


@pytest.mark.parametrize("subcommand", SUBCOMMANDS)
def test_the_help_of_each_subcommand_teaches_by_examples(
    subcommand: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert denoise_here(subcommand, "-h") == 0
    told = capsys.readouterr().out
    examples = re.findall(rf"^  scrapy denoise {subcommand} .+\n      \S", told, re.MULTILINE)
    assert len(examples) >= 2
    assert "Exit codes: 0" in " ".join(told.split())


# --- progress and colours


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["clean", "mirror", "-O", "out.jsonl", "--workers", "1"], "cleaning"),
        (["tree", "mirror", "-O", "tree.html"], "learning"),
        (["explain", "saved.html", "--site-pages", "mirror"], "learning"),
        (["report", "mirror", "-O", "report"], "judging"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
@pytest.mark.parametrize("colours", [True, False])
def test_long_work_shows_a_bar_whose_colours_respect_no_color(
    folder: Path,
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    colours: bool,
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes any stream for a terminal
    monkeypatch.setenv("NO_COLOR", "" if colours else "1")
    assert denoise_here(*arguments) == 0
    shown = capsys.readouterr()
    assert said in STYLE.sub("", shown.err)
    assert bool(COLOUR.search(shown.out + shown.err)) == colours


def test_without_a_terminal_a_line_says_now_and_then_how_far_it_is() -> None:
    written, done = io.StringIO(), Reading()

    def read() -> Iterator[str]:
        for page in ("a", "b"):
            done.bytes_read += 10
            yield page

    with reading_bar(read, lambda: done, [__file__], ["judging"], Console(file=written), seconds=0) as pages:
        assert list(pages()) == ["a", "b"]
    share = 10 / Path(__file__).stat().st_size
    assert written.getvalue() == f"judging: 1 page, {share:.0%}\njudging: 2 pages, {2 * share:.0%}\n"
