import ast
import json
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from scrapy.settings import Settings

from denoise_crawler.commands import page_command
from denoise_crawler.crawl import settings, settings_table
from denoise_crawler.crawl.settings import DenoiseSettings
from tests.conftest import ROOT
from tests.programs import run_python
from tests.scrapy_process import denoise_here, environment

if sys.version_info >= (3, 11):
    import tomllib

DOCS = ROOT / "docs"
# tests/crawl/test_start.py walks through the first page
PAGES = sorted(path for path in [ROOT / "README.md", *DOCS.glob("*.md")] if path.name != "index.md")
LINKED = [*PAGES, DOCS / "index.md", *sorted((ROOT / "benchmarks").glob("*.md")), ROOT / "CONTRIBUTING.md"]
COMMANDS = ("denoise-crawler ", "curl ", "scrapy ", "pip ", "python ", "make ", "spark-submit ")
# Run by tests of their own, or not to be run here; what a block begins with, and why.
ELSEWHERE = {
    "$ denoise-crawler": "tests/project/test_shown_output.py runs it",
    "$ cat": "tests/project/test_shown_output.py runs it",
    "$ scrapyd": "tests/project/test_scrapyd.py runs it",
    "$ make": "it would be the tests in the tests; tests/spiders/test_spiders_loopback.py runs the demo",
}
LOOKED_AT = ("denoise-crawler", "denoise-crawler-mcp", "curl", "scrapy", "make", "python", "spark-submit")
# It asks a stranger's server, or takes long (tests/commands/test_explain.py runs it).
REFUSED = ("https://example.com", "denoise evaluate")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def _blocks() -> Iterator[Block]:
    for page in PAGES:
        fence, start, held = "", 0, list[str]()
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
            if fence and line.strip() == "```":
                yield Block(page, start, fence[3:], "\n".join(held))
                fence = ""
            elif fence:
                held.append(line)
            elif line.startswith("```"):
                fence, start, held = line.strip(), number, []


BLOCKS = list(_blocks())


def _is_shell(block: Block) -> bool:
    return block.language in ("", "sh", "console") and block.text.startswith(("$ ", *COMMANDS))


def _is_settings(block: Block) -> bool:
    try:
        tree = ast.parse(block.text).body
    except SyntaxError:  # the test that would run it says so
        return False
    return all(isinstance(part, ast.Assign) and _names(part)[0].isupper() for part in tree)


def _names(part: ast.Assign) -> list[str]:
    return [name.id for target in part.targets for name in ast.walk(target) if isinstance(name, ast.Name)]


PYTHON = [block for block in BLOCKS if block.language == "python"]
SETTINGS = [block for block in PYTHON if _is_settings(block)]
PROGRAMS = [block for block in PYTHON if block not in SETTINGS]
SHELL = [block for block in BLOCKS if _is_shell(block)]


# --- every block


def test_every_block_is_run_parsed_or_the_output_of_a_command() -> None:
    others = [block for block in BLOCKS if block not in PYTHON and block not in SHELL]
    assert {block.language for block in others} <= {"", "text", "json"}
    for block in others:
        assert block.language != "json" or json.loads(block.text)
        assert "DENOISE_" not in block.text or block.language == "text", block


@pytest.mark.parametrize("block", SETTINGS, ids=str)
def test_settings_can_be_used_as_they_stand(block: Block) -> None:
    namespace: dict[str, Any] = {}
    exec(compile(block.text, str(block), "exec"), namespace)  # noqa: S102
    values = {name: value for name, value in namespace.items() if name.isupper()}
    assert set(filter(_is_ours, values)) <= {*_documented_settings(), *settings.CONTRIB}
    DenoiseSettings.from_settings(Settings(values))
    for section in settings_table.SECTIONS:
        section.read(Settings(values))
    for path in re.findall(r'"((?:denoise_crawler|scrapy_poet|spidermon)\.[\w.]+)"', block.text):
        assert resolve_name(path)


@pytest.mark.parametrize("block", PROGRAMS, ids=str)
def test_programs_run_as_they_stand(block: Block, folder: Path) -> None:
    _skip_what_is_tested_elsewhere(block)
    file = folder / "program.py"
    file.write_text(block.text, encoding="utf-8")
    run_python(file.name, folder=folder, **environment())


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_commands_run_as_they_stand(block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _skip_what_is_tested_elsewhere(block)
    monkeypatch.chdir(folder)
    lines = _lines(block)
    not_run = [line for line in lines if not _was_run(line)]
    if not_run:
        pytest.skip(f"{block}: looked at, not run: {'; '.join(not_run)}")


def _skip_what_is_tested_elsewhere(block: Block) -> None:
    ast.parse(block.text) if block.language == "python" else None
    if "pyspark" in block.text or "denoise_crawler.spark" in block.text:
        pytest.skip(f"{block}: tests/spark/test_spark.py runs it, where there is Java")
    for beginning, reason in ELSEWHERE.items():
        if block.text.startswith(beginning):
            pytest.skip(f"{block}: {reason}")


def _lines(block: Block) -> list[str]:
    marked = [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
    return marked or [line for line in block.text.splitlines() if line.strip()]


def _was_run(line: str) -> bool:
    """Run a command, or look whether it could be run; return which."""
    words = shlex.split(line, comments=True)
    if words[:2] == ["scrapy", "denoise"] and "..." not in line and not any(part in line for part in REFUSED):
        return _denoised(words[2:])
    if words[0] == "denoise-crawler" and not any(part in line for part in REFUSED):
        assert page_command.run(words[1:]) == 0, line
        return True
    if words[0] == "pip":
        extras = re.findall(r"denoise-crawler\[(.*)\]", line)
        assert not extras or set(extras[0].split(",")) <= _extras(), line
    elif words[:2] == ["python", "-m"]:
        assert find_spec(words[2]), line
    elif words[:2] == ["scrapy", "crawl"]:
        assert (ROOT / "spiders" / f"{words[2]}.py").exists(), line
    else:
        assert words[0] in LOOKED_AT, line
    return False


def _denoised(words: list[str]) -> bool:
    words = words[: words.index("|")] if "|" in words else words
    assert denoise_here(*words) == 0, words
    return True


def _extras() -> set[str]:
    if sys.version_info < (3, 11):
        pytest.skip("this Python reads no TOML")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return set(project["optional-dependencies"])


# --- settings


def _is_ours(name: str) -> bool:
    return name.startswith("DENOISE_")


def _documented_settings() -> dict[str, Any]:
    found = re.findall(
        r"^### `(DENOISE_\w+)`\n\nDefault: `(.+)`\. Set it to ", (DOCS / "settings.md").read_text(), re.MULTILINE
    )
    return {name: ast.literal_eval(default) for name, default in found}


ENVIRONMENT = {"DENOISE_CORE", "DENOISE_CORPUS"}


def _strings_of_the_code() -> Iterator[str]:
    for room in ("denoise_crawler", "pipelines", "spiders"):
        for file in (ROOT / room).rglob("*.py"):
            for part in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def test_the_settings_of_the_docs_are_those_of_the_code() -> None:
    used = {text for text in _strings_of_the_code() if re.fullmatch(r"DENOISE_[A-Z_]*[A-Z]", text)}
    assert set(_documented_settings()) == used - settings.CONTRIB - ENVIRONMENT
    assert list(_documented_settings()) == list(settings_table.SETTINGS)


def test_the_page_of_settings_is_written_from_their_table() -> None:
    page = runpy.run_path(str(DOCS / "write_settings.py"))["settings_page"]()
    assert page == (DOCS / "settings.md").read_text("utf-8"), "run: python docs/write_settings.py"


# --- stats


def _documented_stats() -> set[str]:
    pages = "".join((DOCS / name).read_text("utf-8") for name in ("stats.md", "contrib.md"))
    return set(re.findall(r"^\| `denoise/(\S+)` \|", pages, re.MULTILINE))


def _counted(room: str, pattern: str) -> set[str]:
    return {
        name
        for file in sorted((ROOT / room).rglob("*.py"))
        for name in re.findall(pattern, file.read_text("utf-8"))
        if "{" not in name
    }


def test_the_stats_of_the_docs_are_those_of_the_code() -> None:
    named = r"(?:inc_value|set_value|min_value|max_value)\(\s*\"denoise/([a-z_/]+)\""
    cleaning = _counted(
        "denoise_crawler", r"(?:report|counts|self)\.(?:count|first)\(\s*\"([a-z_]+)\""
    ) | _counted("denoise_crawler", named)
    cleaning |= _counted("pipelines", r"_report\.count\(\"([a-z_]+)\"")
    cleaning |= {f"seconds/{name}" for name in _counted("denoise_crawler", r"timed\(\"([a-z]+)\"")}
    rendering = {
        f"rendering/{name}" for name in _counted("denoise_crawler/contrib/rendering", r"_count\(\"([a-z_]+)\"")
    }
    spiders = _counted("spiders", r"\.count\(\"([a-z_]+)\"") | _counted("spiders", r"_skip_article\(\"([a-z_]+)\"")
    documented = {name for name in _documented_stats() if not name.startswith(("skipped/", "SPIDER/", "msn/"))}
    assert documented == cleaning | rendering
    of_spiders = {name.partition("/")[2] for name in _documented_stats() if name.startswith(("SPIDER/", "msn/"))}
    assert of_spiders == spiders | {"failed/KIND"}


def test_the_reasons_to_skip_a_page_that_are_documented_are_those_of_the_code() -> None:
    source = (ROOT / "denoise_crawler" / "page" / "page.py").read_text("utf-8")
    for name in _documented_stats():
        if name.startswith("skipped/"):
            assert f'"{name.removeprefix("skipped/")}"' in source


# --- figures and links


def _table(text: str) -> dict[str, dict[str, str]]:
    rows = [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}


def _table_of_quality(title: str) -> dict[str, dict[str, str]]:
    text = (ROOT / "benchmarks" / "quality.md").read_text("utf-8")
    return _table(text.partition(f"\n{title}")[2].split("\n\n")[1])


@pytest.mark.parametrize("page", [DOCS / "figures.md", ROOT / "README.md"], ids=lambda page: page.name)
def test_the_figures_beside_other_extractors_are_those_of_quality(page: Path) -> None:
    parts = page.read_text("utf-8").split("\n\n")
    compared = _table(next(part for part in parts if "× lxml parse" in part and part.startswith("|")))
    cost = _table_of_quality("daniel: cost")
    for name, figures in compared.items():
        assert figures.pop("× lxml parse") == cost[name]["x lxml parse"]
        for head, figure in figures.items():
            gold, _, group = head.partition(", ")
            group = f"reporting half, {group}".replace(", all", "")
            known = _table_of_quality(f"{gold}: F1 by words on groups")[name]
            assert known[group].lstrip("0") == figure, f"{name}, {head}"


def test_every_page_is_in_the_navigation_and_every_picture_is_shown() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [page.name for page in DOCS.glob("*.md") if f": {page.name}" not in navigation] == []
    shown = "".join(page.read_text("utf-8") for page in LINKED)
    assert [picture.name for picture in DOCS.glob("*.png") if f"{picture.name})" not in shown] == []


def test_links_between_the_documents_lead_somewhere() -> None:
    for page in LINKED:
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"
