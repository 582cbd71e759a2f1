"""What some pages show of commands and programs is what these give. ``DENOISE_WRITE_DOCS=1`` writes it anew."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.scrapy_command import environment

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [
    ROOT / "docs" / f"{name}.md"
    for name in ("pages-on-disk", "output", "language-models", "shops", "what-happened")
]
COMMAND = re.compile(  # the sums of scrapy denoise clean are never the same
    r"(?<=```console\n)\$ (?P<line>(?!scrapy denoise clean).+)\n(?P<shown>(?:(?!```).*\n)*)(?=```\n)"
)
PROGRAM = re.compile(
    r"(?<=```python\n)(?P<program>(?:(?!```).*\n)*)```\n\n```text\n(?P<shown>(?:(?!```).*\n)*)(?=```\n)"
)


def output_of(command: list[str], folder: Path, given: str = "") -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(),
        input=given,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
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
