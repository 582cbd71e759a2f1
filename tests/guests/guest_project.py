"""A small Scrapy project in a folder of its own, crawled with us or without us."""

import json
import signal
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.conftest import ADDON, PIPELINES, Project
from tests.loopback import Served
from tests.page_failures import check_log
from tests.scrapy_process import ScrapyProcess

NOBODY = ""
MODES = {"add-on": ADDON, "pipelines": PIPELINES}
QUICK = "TELNETCONSOLE_ENABLED = False\nIMAGES_STORE = FILES_STORE = 'files'\n"
SPIDER = """
import json
import os
import signal

import scrapy


class PagesSpider(scrapy.Spider):
    name = "pages"
    custom_settings = {"CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}

    async def start(self):
        with open("urls.json") as file:
            for url in json.load(file):
                yield scrapy.Request(url)

    def parse(self, response):
        yield {"url": response.url, "text": ""}
"""
# An extension that sends its own crawl a signal when SIGNAL_AFTER pages have come.
SIGNALS = """
import os

from scrapy import signals


class Signals:
    def __init__(self, crawler):
        self.after = crawler.settings.getint("SIGNAL_AFTER")
        self.sent = crawler.settings.getint("SIGNAL")
        crawler.signals.connect(self.received, signals.response_received)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def received(self, response):
        if b"html" in response.headers.get("Content-Type", b""):
            self.after -= 1
            if self.after == 0:
                os.kill(os.getpid(), self.sent)
"""


class Guest(Project):
    """The project: its module of spiders, its settings with ``us`` in them, and further modules by name."""

    def __init__(
        self, folder: Path, us: str = ADDON, *, spider: str = SPIDER, settings: str = "", **modules: str
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder)
        self.code = 0
        self.set_up(f'{QUICK}EXTENSIONS["signals.Signals"] = 0\n{us}{settings}', spider)
        self.write("signals.py", SIGNALS)
        for name, text in modules.items():
            self.write(f"{name}.py", text)

    def run(self, urls: Iterable[str], *arguments: str, feed: str | None = "out.jsonl") -> list[dict[str, Any]]:
        """Crawl ``urls`` to the end and return the items in the feed, which is made anew."""
        self.write("urls.json", json.dumps(list(urls)))
        feeds = () if feed is None else ("-O", feed)
        log = self.folder / "crawl.log"
        log.write_bytes(b"")
        process = ScrapyProcess(self.folder, "crawl", "pages", *feeds, *arguments, out=log, passing=True)
        self.code = process.wait(120)
        self.log = log.read_text(errors="replace")
        check_log(self.log)
        return [] if feed is None or self.code == -signal.SIGKILL else self.items(feed)

    def files(self) -> dict[str, str]:
        """Return the files that a pipeline has stored, with the digests of what is in them."""
        stored = self.folder / "files"
        found = sorted(path for path in stored.rglob("*") if path.is_file())
        return {str(path.relative_to(stored)): sha256(path.read_bytes()).hexdigest() for path in found}


def signal_after(pages: int, sent: signal.Signals) -> tuple[str, ...]:
    """Return the arguments by which a crawl gets a signal when as many pages have come."""
    return ("-s", f"SIGNAL_AFTER={pages}", "-s", f"SIGNAL={int(sent)}")


def addresses(hosts: Sequence[Served], pages: int, kind: str = "page") -> list[str]:
    """Return the addresses of as many pages of each host."""
    return [f"{host.url}/{kind}/{at}-{number}" for at, host in enumerate(hosts) for number in range(pages)]
