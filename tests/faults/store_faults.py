"""What can go wrong with the store: the disk is full, it may not be written, is damaged or of another kind."""

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from denoise_crawler.store import VERSION
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


def small_file_system(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """The store lies on a file system of a few hundred kilobytes (tmpfs, mounted by root)."""
    disk = folder / "disk"
    disk.mkdir(parents=True)
    size = random.randint(100, 400)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk], check=True)
    try:
        crawls, outcome = Crawls(folder, server, settings='DENOISE_STORE = "disk/denoise.sqlite"\n'), Outcome()
        first = crawls.run(feed="full.jsonl", quota=random.choice((8, 16, 500)))
        refused = crawls.code == 1 and "The crawl cannot begin: the store" in crawls.log
        outcome.must((crawls.code == 0 or refused) and "Traceback" not in crawls.log, crawls.log)
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        if refused:
            first = crawls.run(feed="room.jsonl")
        return rest(crawls, outcome, first)
    finally:
        subprocess.run(["umount", disk], check=True)


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
    return _moved_aside(crawls, outcome)


def garbage_inside(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """Some pages of the file are overwritten: as above."""
    crawls, outcome = Crawls(folder, server), Outcome()
    crawls.leave_parked(random.randint(4, 20))
    body = bytearray(crawls.store.read_bytes())
    for _ in range(3):
        start = 4096 * random.randrange(1, len(body) // 4096)
        body[start : start + 4096] = random.randbytes(4096)
    crawls.store.write_bytes(body)
    return _moved_aside(crawls, outcome)


def _moved_aside(crawls: Crawls, outcome: Outcome) -> Outcome:
    damaged = crawls.store.read_bytes()
    items = crawls.run(feed="after.jsonl")
    outcome.missing(crawls.urls, items)
    outcome.twice(items)
    aside = crawls.folder / "denoise.sqlite.damaged-1"
    outcome.must(aside.is_file() and aside.read_bytes() == damaged, "the damaged store was not kept")
    outcome.must(crawls.code == 0 and "The file was moved to" in crawls.log and not crawls.parked(), crawls.log)
    return outcome


def another_release(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """The store was written by another release: it is moved aside, and what waits in it comes out."""
    crawls, outcome = Crawls(folder, server), Outcome()
    parked = crawls.leave_parked(random.randint(1, 12))
    with closing(sqlite3.connect(crawls.store)) as db:
        db.execute(f"PRAGMA user_version = {VERSION + random.randint(-3, -1)}")
    crawls.fetch([])
    items = crawls.run(feed="after.jsonl")
    outcome.missing(parked, items)
    outcome.twice(items)
    outcome.must(crawls.code == 0 and "The file was moved to" in crawls.log and not crawls.parked(), crawls.log)
    return outcome


def garbage(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """Something else lies in the place of the store: it is refused and left as it is."""
    crawls = Crawls(folder, server)
    crawls.store.write_bytes(random.randbytes(random.randint(100, 50_000)))
    return _refused(crawls, Outcome())


def _refused(crawls: Crawls, outcome: Outcome) -> Outcome:
    before = crawls.store.read_bytes()
    items = crawls.run(feed="refused.jsonl")
    outcome.must(not items and crawls.code == 1 and _one_line(crawls), crawls.log)
    outcome.must(crawls.store.read_bytes() == before, "the file was changed")
    return outcome


def _one_line(crawls: Crawls) -> bool:
    last = crawls.log.strip().splitlines()[-1]
    return "Traceback" not in crawls.log and last.startswith("The crawl cannot begin: the store")
