"""What the README shows of the demo and its spider is what they give. ``DENOISE_WRITE_DOCS=1`` writes it anew."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from denoise_crawler.demo.server import DemoServer
from tests.scrapy_command import environment

README = Path(__file__).parents[2] / "README.md"
SHOWN = re.compile(r"(?<=```\n\$ make demo\n).*?(?=```)", re.DOTALL)
SPIDER = re.compile(r"(?<=```python\n).*?(?=```)", re.DOTALL)
ITEM = re.compile(r"(?<=```json\n).*?(?=\n```)", re.DOTALL)
PORT = 39129  # any: the demo takes one that is free


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what the demo prints, without what differs from run to run."""
    folder = tmp_path_factory.mktemp("demo")
    done = _run([sys.executable, "-m", "denoise_crawler.demo", "--output", str(folder)], folder)
    made = _with_one_port(done.replace(f"{folder.resolve()}", "demo-output"))
    _write(SHOWN, made)
    return made


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
    found["url"] = found["url"].replace(server.url, "http://127.0.0.1:8000")
    found["text"] = found["text"][:270] + " …"
    made = json.dumps(found, ensure_ascii=False, indent=1)
    _write(ITEM, made)
    return made


def _run(command: list[str], folder: Path) -> str:
    ran = subprocess.run(
        command,
        cwd=folder,
        env={**environment(), "COLUMNS": "80"},
        capture_output=True,
        encoding="utf-8",
        timeout=180,
        check=True,
    )
    return ran.stdout


def _with_one_port(text: str) -> str:
    return re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{PORT}", text)


def _write(place: re.Pattern[str], made: str) -> None:
    if os.environ.get("DENOISE_WRITE_DOCS"):
        README.write_text(place.sub(lambda _: made, README.read_text("utf-8"), count=1), "utf-8")


def test_the_readme_shows_what_the_demo_prints(printed: str) -> None:
    shown = SHOWN.search(README.read_text("utf-8"))
    assert shown is not None
    assert shown[0] == printed


def test_the_readme_shows_an_item_of_its_spider(item: str) -> None:
    shown = ITEM.search(README.read_text("utf-8"))
    assert shown is not None
    assert shown[0] == item


def test_the_spider_of_the_readme_has_eight_lines() -> None:
    spider = SPIDER.search(README.read_text("utf-8"))
    assert spider is not None
    assert len([line for line in spider[0].splitlines() if line.strip()]) <= 8


def test_the_readme_fits_on_two_screens() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 120
