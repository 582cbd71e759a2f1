"""What the README shows of the demo is what the demo gives. ``DENOISE_WRITE_DOCS=1`` writes it anew."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
SHOWN = re.compile(r"(?<=```\n\$ make demo\n).*?(?=```)", re.DOTALL)
ITEM = re.compile(r"(?<=```json\n).*?(?=\n```)", re.DOTALL)
PORT = 39129  # any: the demo takes one that is free


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return what the demo prints and an item of it, without what differs from run to run."""
    folder = tmp_path_factory.mktemp("demo")
    ran = subprocess.run(
        [sys.executable, "-m", "denoise_crawler.demo", "--output", str(folder)],
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        encoding="utf-8",
        timeout=180,
        check=True,
    )
    printed = ran.stdout.replace(f"{folder.resolve()}", "demo-output")
    whole = json.loads((folder / "items.jsonl").read_text("utf-8").splitlines()[-1])
    item = {name: value for name, value in whole.items() if value not in (None, [])}
    item["text"] = item["text"][:70] + " …"
    item["fetched_at"] = "2031-03-14T09:00:24+00:00"
    shown = printed, json.dumps(item, ensure_ascii=False, indent=1)
    if os.environ.get("DENOISE_WRITE_DOCS"):
        _write(*map(_with_one_port, shown))
    return _with_one_port(shown[0]), _with_one_port(shown[1])


def _with_one_port(text: str) -> str:
    return re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{PORT}", text)


def _write(printed: str, item: str) -> None:
    readme = SHOWN.sub(lambda _: printed, README.read_text("utf-8"), count=1)
    README.write_text(ITEM.sub(lambda _: item, readme, count=1), "utf-8")


def test_the_readme_shows_what_the_demo_prints(demo: tuple[str, str]) -> None:
    shown = SHOWN.search(README.read_text("utf-8"))
    assert shown is not None
    assert shown[0] == demo[0]


def test_the_readme_shows_an_item_of_the_demo(demo: tuple[str, str]) -> None:
    shown = ITEM.search(README.read_text("utf-8"))
    assert shown is not None
    assert shown[0] == demo[1]


def test_the_readme_fits_on_two_screens() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 120
