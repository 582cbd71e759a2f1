"""The faults: each does one thing to a crawl and counts what was lost, came twice or crashed.

After ``kill -9`` or a second Ctrl-C a page that was handed on just before may come again in the next run
(``docs/guarantees.md``): there only pages that come twice within one run count as duplicated. After every other
end, pages of all runs together do.
"""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeAlias

from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import PIPELINES
from tests.faults import store_faults
from tests.faults.crawls import Crawls, Outcome
from tests.faults.store_faults import rest

Scenario: TypeAlias = Callable[[Path, DemoServer, Random], Outcome]

LONGEST = 1.6  # seconds in which a crawl of these pages is at work
WITH_HTML = SPIDER.replace('yield {"url": response.url}', 'yield {"url": response.url, "html": response.text}', 1)


def kill(folder: Path, server: DemoServer, random: Random, *, settings: str = "", spider: str = SPIDER) -> Outcome:
    """``kill -9`` at a random moment; the next run fetches some of the pages again, and not others."""
    crawls, outcome = Crawls(folder, server, settings=settings, spider=spider), Outcome()
    quota = random.choice((8, 16, 500))
    process = crawls.begin(feed="killed.jsonl", quota=quota)
    crawls.waits(process, crawls.opened)
    time.sleep(random.uniform(0.0, LONGEST))
    process.send_signal(signal.SIGKILL)
    killed = crawls.finished(process, "killed.jsonl")
    parked = crawls.parked()
    again = random.sample(crawls.urls, random.randint(0, len(crawls.urls)))
    crawls.fetch(again)
    after = crawls.run(feed="after.jsonl", quota=quota)
    outcome.missing({*parked, *again}, after)
    outcome.twice(killed)
    outcome.twice(after)
    outcome.changed([*killed, *after], crawls.headlines)
    outcome.must(crawls.code == 0 and not crawls.parked(), crawls.log)
    return outcome


def kill_with_pipelines(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """The same with the pipelines."""
    return kill(folder, server, random, settings=f"ADDONS = {{}}{PIPELINES}", spider=WITH_HTML)


def ctrl_c(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """Ctrl-C once, at a random moment."""
    crawls, outcome = Crawls(folder, server), Outcome()
    process = crawls.begin(feed="out.jsonl", quota=random.choice((8, 16, 500)))
    crawls.waits(process, crawls.opened)
    time.sleep(random.uniform(0.0, LONGEST))
    process.send_signal(signal.SIGINT)
    items = crawls.finished(process, "out.jsonl")
    fetched = int(crawls.stats.get("downloader/response_status_count/200", 0))
    outcome.lost = fetched - len({item["url"] for item in items})
    outcome.twice(items)
    over = crawls.stats.get("finish_reason") == "finished"  # a signal after that meets Python, not Scrapy
    outcome.must((crawls.code == 0 or over) and not crawls.parked(), crawls.log)
    return outcome


def ctrl_c_twice(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """Ctrl-C twice, at random moments; the next run fetches nothing."""
    crawls, outcome = Crawls(folder, server), Outcome()
    process = crawls.begin(feed="out.jsonl", quota=random.choice((8, 16, 500)))
    crawls.waits(process, crawls.opened)
    time.sleep(random.uniform(0.0, LONGEST))
    process.send_signal(signal.SIGINT)
    time.sleep(random.uniform(0.0, 0.1))
    process.send_signal(signal.SIGINT)
    first = crawls.finished(process, "out.jsonl")
    parked = crawls.parked()
    crawls.fetch([])
    after = crawls.run(feed="after.jsonl")
    outcome.missing(parked, first, after)
    outcome.twice(first)
    outcome.twice(after)
    outcome.must(crawls.code == 0 and not crawls.parked(), crawls.log)
    return outcome


def two_crawls(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """Two crawls on one store at a time, one of which is killed; a third one comes after."""
    crawls, outcome = Crawls(folder, server), Outcome()
    quota = random.choice((8, 16, 500))
    one = crawls.begin("-s", "STATS_FILE=one.json", feed="one.jsonl", quota=quota)
    other = crawls.begin("-s", "STATS_FILE=other.json", feed="other.jsonl", quota=quota)
    crawls.waits(one, lambda: len(crawls.parked()) >= 4)
    time.sleep(random.uniform(0.0, LONGEST))
    one.send_signal(signal.SIGKILL)
    killed, lived = crawls.finished(one, "one.jsonl"), crawls.finished(other, "other.jsonl")
    outcome.must(crawls.code == 0, crawls.log)
    outcome.missing(crawls.urls, lived)
    parked = crawls.parked()
    crawls.fetch([])
    after = crawls.run(feed="after.jsonl")
    outcome.missing(parked, after)
    for items in (killed, lived, after):
        outcome.twice(items)
    outcome.must(crawls.code == 0 and not crawls.parked(), crawls.log)
    return outcome


CLOCK = """
import time

_now, _calls = time.time, [0]


def backwards():
    _calls[0] += 1
    return _now() - 60.0 * _calls[0]


time.time = backwards
"""


def clock(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """The clock goes back by a minute whenever somebody looks at it."""
    crawls, outcome = Crawls(folder, server, settings=CLOCK), Outcome()
    items = crawls.run(feed="out.jsonl", quota=random.choice((8, 500)))
    outcome.missing(crawls.urls, items)
    outcome.twice(items)
    outcome.must(crawls.code == 0 and not crawls.parked(), crawls.log)
    return outcome


def failing_feed(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """The feed cannot be written: what had waited comes out in the next run, though nothing is fetched."""
    crawls, outcome = Crawls(folder, server), Outcome()
    feed = random.choice(("/dev/full:jsonlines", "ftp://127.0.0.1:1/out.jsonl"))
    crawls.run(feed=feed, quota=500)
    parked = crawls.parked()
    outcome.must("A feed failed" in crawls.log, crawls.log)
    outcome.missing(crawls.urls, [{"url": url} for url in parked])
    return rest(crawls, outcome, [])


SCENARIOS: dict[str, Scenario] = {
    "kill -9": kill,
    "kill -9, the pipelines": kill_with_pipelines,
    "Ctrl-C": ctrl_c,
    "Ctrl-C twice": ctrl_c_twice,
    "disk full (file size limit)": store_faults.full_disk,
    "store read-only": store_faults.read_only,
    "store cut": store_faults.cut_in_half,
    "two crawls on one store, one killed": two_crawls,
    "clock goes backwards": clock,
    "feed fails": failing_feed,
}
