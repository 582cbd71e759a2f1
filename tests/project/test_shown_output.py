"""What README, some pages and the examples show is what is given. ``DENOISE_WRITE_DOCS=1`` writes it anew."""

import doctest
import json
import os
import pkgutil
import re
import shlex
import sys
from importlib import import_module
from pathlib import Path

import pytest

import denoise_crawler
from denoise_crawler.errors import MissingExtraError
from examples.demo_site.server import DemoServer
from tests.conftest import ROOT
from tests.programs import run_program, run_python
from tests.scrapy_process import environment

PAGES = [
    ROOT / "docs" / f"{name}.md"
    for name in ("contrib", "pages-on-disk", "output", "language-models", "shops", "what-happened")
]
COMMAND = re.compile(  # the sums of scrapy denoise clean are never the same
    r"(?<=```console\n)\$ (?P<line>(?!scrapy denoise clean).+)\n(?P<shown>(?:(?!```).*\n)*)(?=```\n)"
)
PROGRAM = re.compile(
    r"(?<=```python\n)(?P<program>(?:(?!```).*\n)*)```\n\n```text\n(?P<shown>(?:(?!```).*\n)*)(?=```\n)"
)


def output_of(command: list[str], folder: Path, given: str = "") -> str:
    done = run_program(*command, folder=folder, given=given, code=None, **environment())
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


def output_of_line(line: str, folder: Path) -> str:
    """Run a line of the shell: ``cat``, our commands and ``head``, joined by pipes."""
    text = ""
    for part in line.split(" | "):
        program, *words = shlex.split(part)
        if program == "cat":
            text = (folder / words[0]).read_text("utf-8")
        elif program == "head":
            text = "".join(text.splitlines(keepends=True)[: int(words[0].removeprefix("-"))])
        else:
            module = {"denoise-crawler": "denoise_crawler", "scrapy": "scrapy"}[program]
            text = output_of([sys.executable, "-m", module, *words], folder, text)
    return text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_output_that_a_page_shows_is_that_of_its_commands_and_programs(page: Path, folder: Path) -> None:
    def command(found: re.Match[str]) -> str:
        return f"$ {found['line']}\n{output_of_line(found['line'], folder)}"

    def program(found: re.Match[str]) -> str:
        shown = output_of([sys.executable, "-c", found["program"]], folder)
        return f"{found['program']}```\n\n```text\n{shown}"

    text = page.read_text("utf-8")
    made = PROGRAM.sub(program, COMMAND.sub(command, text))
    if os.environ.get("DENOISE_WRITE_DOCS"):
        page.write_text(made, "utf-8")
        text = made
    assert text == made


README = Path(__file__).parents[2] / "README.md"
SPIDER = re.compile(r"(?<=```python\n).*?(?=```)", re.DOTALL)
ITEM = re.compile(r"(?<=```json\n).*?(?=\n```)", re.DOTALL)


@pytest.fixture(scope="module")
def item(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return an item of the spider in the README, its text shortened."""
    folder = tmp_path_factory.mktemp("spider")
    spider = SPIDER.search(README.read_text("utf-8"))
    assert spider is not None
    with DemoServer() as server:
        (folder / "stories.py").write_text(spider[0].replace("http://127.0.0.1:8000", server.url), "utf-8")
        command = ["-m", "scrapy", "runspider", "stories.py", "-O", "items.jsonl", "-s", "DOWNLOAD_DELAY=0.01"]
        _run([sys.executable, *command], folder)
    items = map(json.loads, (folder / "items.jsonl").read_text("utf-8").splitlines())
    (found,) = [one for one in items if "ferry-treaty" in one["url"]]
    found["url"] = re.sub(".*/ar-", "http://127.0.0.1:8000/…/ar-", found["url"])
    found["text"] = found["text"][:76] + " …"
    made = json.dumps(found, ensure_ascii=False, indent=1)
    _write(ITEM, made)
    return made


def _run(command: list[str], folder: Path) -> str:
    ran = run_program(*command, folder=folder, **{**environment(), "COLUMNS": "80"})
    return ran.stdout


def _write(place: re.Pattern[str], made: str) -> None:
    if os.environ.get("DENOISE_WRITE_DOCS"):
        README.write_text(place.sub(lambda _: made, README.read_text("utf-8"), count=1), "utf-8")


def test_the_readme_shows_an_item_of_its_spider(item: str) -> None:
    shown = ITEM.search(README.read_text("utf-8"))
    assert shown is not None
    assert shown[0] == item


def test_the_spider_of_the_readme_is_short_and_fits_a_phone() -> None:
    spider = SPIDER.search(README.read_text("utf-8"))
    assert spider is not None
    lines = [line for line in spider[0].splitlines() if line.strip()]
    assert len(lines) <= 13
    assert max(map(len, lines)) <= 48


def test_the_readme_fits_on_two_screens_and_no_line_of_code_is_cut() -> None:
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 120
    assert max(len(line) for code in re.findall(r"```.*?```", text, re.DOTALL) for line in code.splitlines()) <= 92


DOCS = Path(__file__).parents[2] / "docs"
DATA_PROGRAM = re.compile(r"```python\n((?:(?!```).)*print\((?:(?!```).)*)```\n+```text\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize(("name", "programs"), [("discussions.md", 2)])
def test_programs_print_what_the_page_shows(name: str, programs: int, tmp_path: Path) -> None:
    found = DATA_PROGRAM.findall((DOCS / name).read_text("utf-8"))
    assert len(found) == programs
    for program, shown in found:
        file = tmp_path / "program.py"
        file.write_text(program, "utf-8")
        done = run_python(file.name, folder=tmp_path, code=None, **environment())
        assert (done.stdout, done.stderr) == (shown, "")


MODULES = [
    found.name
    for found in pkgutil.walk_packages(denoise_crawler.__path__, "denoise_crawler.")
    if not found.name.endswith(".__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_say(name: str) -> None:
    try:
        module = import_module(name)
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
