"""Crawls to break: their project, the items that came out, the pages that wait in the store."""

import ctypes
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examples.demo_site.replies import article_path, articles
from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import ADDON, Project
from tests.page_failures import check_log
from tests.scrapy_process import ScrapyProcess

STORE = "denoise.sqlite"
PAGES = 24
QUICK = f'{ADDON}LOG_LEVEL = "INFO"\nDENOISE_STORE = "{STORE}"\nTELNETCONSOLE_ENABLED = False\n'
_CAP_DAC_OVERRIDE, _PR_CAPBSET_DROP = 1, 24


@dataclass
class Outcome:
    """What came of one trial: pages lost, pages that came twice, and all that went otherwise than promised."""

    lost: int = 0
    duplicated: int = 0
    crashed: int = 0
    notes: list[str] = field(default_factory=list)

    def must(self, holds: object, note: str) -> None:
        """Count a crash and note it unless ``holds``."""
        if not holds:
            self.crashed += 1
            self.notes.append(note)

    def missing(self, wanted: Collection[str], *runs: list[dict[str, Any]]) -> None:
        """Count the pages that are in none of the runs' items."""
        urls = {item["url"] for items in runs for item in items}
        self.lost += len(set(wanted) - urls)

    def changed(self, items: list[dict[str, Any]], headlines: dict[str, str]) -> None:
        """Count as crashes the items that lack the text of their page or have another field than the spider's."""
        for item in items:
            own = set(item) - {"url", "html", "text"}
            has_text = headlines[item["url"]] in (item.get("text") or "")
            self.must(has_text and not own, f"changed: {item}")

    def twice(self, *runs: list[dict[str, Any]]) -> None:
        """Count the pages that came more than once in all runs together."""
        counted = Counter(item["url"] for items in runs for item in items)
        self.duplicated += sum(times - 1 for times in counted.values())


class Crawls(Project):
    """A project whose spider fetches the pages that ``urls.json`` names, one after the other."""

    def __init__(self, folder: Path, server: DemoServer, *, settings: str = "", spider: str = SPIDER) -> None:
        super().__init__(folder)
        folder.mkdir(parents=True, exist_ok=True)
        english = [article for article in articles() if article.lang == "en"]
        self.urls = [server.url + article_path(article) for article in english[:PAGES]]
        self.headlines = {url: article.title for url, article in zip(self.urls, english[:PAGES], strict=True)}
        self.code = 0
        self._server, self._asked_before = server, len(server.requests)
        self.set_up(QUICK + settings, spider)
        self.fetch(self.urls)

    def fetch(self, urls: list[str]) -> None:
        """Let the next runs fetch ``urls``."""
        self.write("urls.json", json.dumps(urls))

    def run(self, *arguments: str, feed: str, quota: int = 12) -> list[dict[str, Any]]:
        """Run a crawl to its end and return its items."""
        return self.finished(self.begin(*arguments, feed=feed, quota=quota), feed)

    def begin(self, *arguments: str, feed: str, quota: int = 12) -> ScrapyProcess:
        """Start a crawl."""
        return self.start("articles", "-s", f"DENOISE_WARMUP_PAGES={quota}", *arguments, feed=feed)

    def finished(self, process: ScrapyProcess | subprocess.Popen[str], feed: str) -> list[dict[str, Any]]:
        """Wait for the end of a crawl and return the items that stand whole in its feed."""
        self.code = process.wait(timeout=240)
        self.log = (self.folder / "crawl.log").read_text(errors="replace")
        check_log(self.log)
        return self.items(feed)

    def items(self, feed: str = "out.jsonl") -> list[dict[str, Any]]:
        """Return the items of a feed; a killed crawl may leave half a line at its end."""
        path = self.folder / feed
        if not path.is_file():
            return []
        lines = path.read_text("utf-8", errors="replace").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def waits(self, process: ScrapyProcess, until: Callable[[], object], seconds: float = 120) -> None:
        """Return when ``until()`` holds or the process has ended."""
        deadline = time.monotonic() + seconds
        while process.poll() is None and not until():
            if time.monotonic() > deadline:
                process.kill()
                raise TimeoutError((self.folder / "crawl.log").read_text(errors="replace"))
            time.sleep(0.01)

    def opened(self) -> bool:
        """Return True if the running crawl has opened its spider."""
        return "Spider opened" in (self.folder / "crawl.log").read_text(errors="replace")

    @property
    def store(self) -> Path:
        """The file of the store."""
        return self.folder / STORE

    def parked(self) -> list[str]:
        """Return the addresses in the store: of what waits, and what was handed on by a run that has not ended."""
        if not self.store.exists():
            return []
        with closing(sqlite3.connect(self.store, timeout=30)) as db:
            try:
                return [
                    url
                    for (url,) in db.execute(
                        "SELECT url FROM parked JOIN page ON page.id = page ORDER BY parked.id"
                    )
                ]
            except sqlite3.OperationalError:
                return []

    def asked(self) -> int:
        """Return how many pages the crawls of this project have asked for."""
        return len(self._server.requests) - self._asked_before

    def leave_parked(self, pages: int) -> list[str]:
        """Kill a crawl as soon as ``pages`` wait; return the addresses that do, all in the file itself."""
        process = self.begin(feed="killed.jsonl", quota=500)
        self.waits(process, lambda: len(self.parked()) >= pages)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with closing(sqlite3.connect(self.store)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return self.parked()

    def without_rights(self, feed: str) -> list[dict[str, Any]]:
        """Run a crawl that minds the rights of files even where root runs it (Linux)."""
        command = [sys.executable, "-m", "scrapy", "crawl", "articles", "-o", feed]
        with (self.folder / "crawl.log").open("w") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, stdout=log, stderr=log, text=True, preexec_fn=_mind_rights
            )
        return self.finished(process, feed)


def _mind_rights() -> None:
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0)
