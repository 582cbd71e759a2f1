"""The output that the pages about discussions and changes show is what their programs print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scrapy_command import environment

DOCS = Path(__file__).parents[2] / "docs"
PROGRAM = re.compile(r"```python\n((?:(?!```).)*print\((?:(?!```).)*)```\n+```text\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize(("name", "programs"), [("discussions.md", 2), ("changes.md", 1)])
def test_programs_print_what_the_page_shows(name: str, programs: int, tmp_path: Path) -> None:
    found = PROGRAM.findall((DOCS / name).read_text("utf-8"))
    assert len(found) == programs
    for program, shown in found:
        file = tmp_path / "program.py"
        file.write_text(program, "utf-8")
        done = subprocess.run(
            [sys.executable, file.name],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.stderr) == (shown, "")
