import json
import os
import re
import sys
from pathlib import Path

from examples.demo_site.server import DemoServer
from tests.conftest import ROOT
from tests.programs import run_program

START = (ROOT / "docs" / "index.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8000"
LEFT_OUT = ("python3 -m venv", ". .venv", "pip install", "python -m examples.demo_site.server")


def commands() -> list[str]:
    found = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]
    return [command for command in found if not command.startswith(LEFT_OUT)]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", START, re.DOTALL)


def run_in_shell(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    quick = command.replace("scrapy crawl", "scrapy crawl -s DOWNLOAD_DELAY=0.01")
    done = run_program("sh", "-c", quick, folder=folder, PATH=path)
    return done.stdout + done.stderr


def test_the_walk_through_gives_what_it_says(tmp_path: Path, server: DemoServer) -> None:
    start, enter, crawl, look = commands()
    run_in_shell(start, tmp_path)
    folder = tmp_path / enter.removeprefix("cd ")
    line, spider = blocks("python")
    settings = folder / "stories" / "settings.py"
    assert "ADDONS = {}\n" in settings.read_text()
    settings.write_text(settings.read_text().replace("ADDONS = {}\n", line))
    (folder / "stories" / "spiders" / "pages.py").write_text(spider.replace(ADDRESS, server.url))
    log = run_in_shell(crawl, folder)
    (expected,) = blocks("text")
    for said in expected.replace(ADDRESS.removeprefix("http://"), server.url.removeprefix("http://")).splitlines():
        assert said in log
    items = [json.loads(row) for row in (folder / "pages.jsonl").read_text("utf-8").splitlines()]
    assert len(items) >= 20
    assert all(item["text"] and "All rights reserved" not in item["text"] for item in items)
    assert items[0]["text"][:100] in run_in_shell(look, folder)
    assert "until it is known" not in run_in_shell(crawl, folder)
    assert (folder / ".scrapy" / "denoise.sqlite").exists()
