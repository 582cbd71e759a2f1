"""docs/rules.md shows what the commands print, and what wrong rules give."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from denoise_crawler.rules.folder import OBEYED, PASSED_OVER, PRUNE, parse_site_file
from tests.conftest import ROOT
from tests.example_files import write_examples
from tests.rules.test_site_files import WRONG
from tests.scrapy_command import denoise

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "rules.md").read_text("utf-8")
SHOWN = re.findall(r"```console\n\$ scrapy denoise (.+)\n((?:.*\n)*?)```", PAGE)


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    write_examples(tmp_path, 4)
    assert len(SHOWN) == 2
    for command, printed in SHOWN:
        assert denoise(tmp_path, *shlex.split(command)).stdout == printed


def test_the_page_shows_the_lines_that_wrong_rules_give() -> None:
    problems = "\n".join(parse_site_file(WRONG, "news.example.txt").problems)
    assert f"```text\n{problems}\n```" in PAGE


def test_the_page_names_each_directive_and_its_example_is_right() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE)) | {PRUNE}
    assert named >= OBEYED
    assert named & PASSED_OVER
    (example,) = re.findall(r"```text\n(# the story(?:.*\n)*?)```", PAGE)
    found = parse_site_file(example)
    assert found.problems == []
    assert {rule.directive for rule in found.rules} <= OBEYED
    assert len(found.rules) == 7
