"""What can go wrong with the store: the disk is full, it may not be written, is damaged or of another kind."""

import os
from pathlib import Path
from random import Random
from typing import Any

from examples.demo_site.server import DemoServer
from tests.faults.crawls import Crawls, Outcome

FULL = """
import resource
from pathlib import Path


class FullDisk:
    def __init__(self, crawler):
        self.met, self.crawler = 0, crawler

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def process_response(self, request, response):
        self.met += 1
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        if self.met == self.crawler.settings.getint("FULL_FROM"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (Path("denoise.sqlite-wal").stat().st_size, hard))
        if self.met == self.crawler.settings.getint("FULL_TO"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        return response
"""


def full_disk(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """The store can grow no more from a random page on, sometimes until a later one (``RLIMIT_FSIZE``)."""
    crawls = Crawls(folder, server, settings='DOWNLOADER_MIDDLEWARES = {"full_disk.FullDisk": 100}\n')
    crawls.write("full_disk.py", FULL)
    outcome, begins = Outcome(), random.randint(2, 20)
    ends = random.choice((0, random.randint(begins + 1, 24)))
    limits = ("-s", f"FULL_FROM={begins}", "-s", f"FULL_TO={ends}")
    first = crawls.run(*limits, feed="full.jsonl", quota=random.choice((8, 16, 500)))
    outcome.must(crawls.code == 0 and "The store" in crawls.log and "Traceback" not in crawls.log, crawls.log)
    return rest(crawls, outcome, first)


def rest(crawls: Crawls, outcome: Outcome, first: list[dict[str, Any]]) -> Outcome:
    """Run again with nothing to fetch: what waits comes out, and all pages have come once."""
    crawls.fetch([])
    after = crawls.run(feed="after.jsonl")
    outcome.missing(crawls.urls, first, after)
    outcome.twice(first, after)
    outcome.must(crawls.code == 0, crawls.log)
    return outcome


def read_only(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """The store and its folder cannot be written: the crawl says so and does not begin; later all is there."""
    crawls, outcome = Crawls(folder, server), Outcome()
    parked = crawls.leave_parked(random.randint(1, 12))
    before = crawls.store.read_bytes()
    places = [*crawls.folder.glob("denoise.sqlite*")]
    (crawls.folder / "out").mkdir()
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    crawls.folder.chmod(0o555)
    try:
        refused = crawls.without_rights("out/refused.jsonl")
        outcome.must(not refused and crawls.code == 1 and _one_line(crawls), crawls.log)
        outcome.must(crawls.store.read_bytes() == before, "the store was changed")
    finally:
        crawls.folder.chmod(0o755)
        for place in places:
            place.chmod(0o755 if place.is_dir() else 0o644)
    crawls.fetch([])
    after = crawls.run(feed="after.jsonl")
    outcome.missing(parked, after)
    outcome.twice(after)
    outcome.must(crawls.code == 0, crawls.log)
    return outcome


def cut_in_half(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """The file is cut: it is moved aside, and all pages are fetched again."""
    crawls, outcome = Crawls(folder, server), Outcome()
    crawls.leave_parked(random.randint(4, 20))
    size = crawls.store.stat().st_size
    os.truncate(crawls.store, int(size * random.uniform(0.3, 0.9)) if random.random() < 0.5 else size // 2)
    damaged = crawls.store.read_bytes()
    items = crawls.run(feed="after.jsonl")
    outcome.missing(crawls.urls, items)
    outcome.twice(items)
    aside = crawls.folder / "denoise.sqlite.damaged-1"
    outcome.must(aside.is_file() and aside.read_bytes() == damaged, "the damaged store was not kept")
    outcome.must(crawls.code == 0 and "The file was moved to" in crawls.log and not crawls.parked(), crawls.log)
    return outcome


def _one_line(crawls: Crawls) -> bool:
    last = crawls.log.strip().splitlines()[-1]
    return "Traceback" not in crawls.log and last.startswith("The crawl cannot begin: the store")
