"""Items that wait are pickles: who may write them is trusted, and nobody but their own crawl reads them."""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from denoise_crawler.store import Store
from denoise_crawler.store.file import is_private
from denoise_crawler.store.parked_rows import ParkedPage, ParkedResponse
from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import Project
from tests.crawl.test_crawl import STORE, assert_one_item_each, has_waiting_rows, quota, urls

HTML = (
    "<title>One</title><nav>Home</nav><p>The harbour was closed for the whole of the summer, and nobody said why."
)


class Harmful:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self._path,)


@pytest.fixture
def harmful(tmp_path: Path) -> tuple[Path, Path]:
    """Return a store whose rows run code when they are unpickled, and the file that the code makes."""
    path, made = tmp_path / "harmful.sqlite", tmp_path / "code-ran"
    data = pickle.dumps(Harmful(made))
    with closing(Store(path)) as store:
        page = ParkedPage("a.example", "https://a.example/1", HTML, b"1", ParkedResponse(data))
        store.park(page, msgspec.msgpack.encode([data]))
    return path, made


COMMANDS = {
    "report": ("report", "STORE", "-o", "report"),
    "tree": ("tree", "a.example", "-s", "DENOISE_STORE=STORE", "--method", "style_tree"),
    "explain": ("explain", "page.html", "--site", "a.example", "-s", "DENOISE_STORE=STORE"),
    "merge": ("merge", "STORE", "--into", "merged.sqlite"),
    "merge into a shared store": ("merge", "STORE", "--into", "shared"),
    "clean": ("clean", "page.html", "-O", "out.jsonl", "--knowledge", "STORE"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_unpickles_what_waits(command: str, harmful: tuple[Path, Path], tmp_path: Path) -> None:
    path, made = harmful
    (tmp_path / "page.html").write_text(HTML)
    arguments = [word.replace("STORE", str(path)) for word in COMMANDS[command]]
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "denoise", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert not made.exists(), done.stdout + done.stderr
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM parked").fetchone() == (1,)


def test_one_file_of_the_package_unpickles_what_a_store_holds() -> None:
    root = Path(__file__).parents[2]
    using = {
        file.relative_to(root).as_posix()
        for top in ("denoise_crawler", "pipelines", "spiders")
        for file in (root / top).rglob("*.py")
        if "pickle.load" in file.read_text("utf-8")
    }
    # these read files without a name, and messages, of their own processes
    own = {f"denoise_crawler/{name}.py" for name in ("page/held_pages", "report/explorer", "batch/workers")}
    assert using - own == {"denoise_crawler/crawl/pickled.py"}


@pytest.mark.skipif(os.name != "posix", reason="files have no owners")
@pytest.mark.parametrize("mode", [0o660, 0o602])
def test_in_a_store_that_others_can_write_nothing_waits_and_nothing_is_read(
    mode: int, project: Project, server: DemoServer
) -> None:
    project.spider(SPIDER, urls(server))
    project.crawl("articles", *quota(2))
    store = project.folder / STORE
    assert store.stat().st_mode & 0o777 == 0o600
    assert is_private(store)
    store.chmod(mode)
    assert not is_private(store)
    items = project.crawl("articles", *quota(500), "-s", "DENOISE_METHOD=style_tree", feed="again.jsonl")
    assert_one_item_each(items, 24)
    assert not has_waiting_rows(project, 1)
    assert "denoise/parked" not in project.stats
    assert project.log.count("belongs to another user, or others can write it: no item waits in it") == 1
