"""Faults of polite crawls: the end comes while everything waits."""

import signal
import time
from pathlib import Path
from random import Random

from examples.demo_site.server import DemoServer
from tests.faults.crawls import Crawls, Outcome

POLITE = """
ADDONS = {"denoise_crawler.Addon": 300, "denoise_crawler.Politeness": 310}
ROBOTSTXT_OBEY = True
DENOISE_DELAY_MIN = 0
DENOISE_DELAY_MAX = 0.01
JOBDIR = "job"
"""
ENDLESS = ("-s", "DENOISE_DELAY_MIN=1e9", "-s", "DENOISE_DELAY_MAX=1e9")


def end_in_an_endless_gap(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """Ctrl-C, SIGTERM or CLOSESPIDER_TIMEOUT while the next request waits 30 years; the next run does the rest."""
    crawls, outcome = Crawls(folder, server, settings=POLITE), Outcome()
    end = random.choice((signal.SIGINT, signal.SIGTERM, None))
    timeout = () if end else ("-s", f"CLOSESPIDER_TIMEOUT={random.uniform(0.5, 2):.2f}")
    process = crawls.begin(*ENDLESS, *timeout, feed="first.jsonl")
    # Later than the start: a signal that meets Scrapy while it opens the spider ends it at once.
    crawls.waits(process, crawls.asked)
    if end:
        time.sleep(random.uniform(0.0, 1.0))
        process.send_signal(end)
    first = crawls.finished(process, "first.jsonl")
    outcome.must(crawls.code == 0, crawls.log)
    second = crawls.run(feed="second.jsonl")
    outcome.must(crawls.code == 0 and not crawls.parked(), crawls.log)
    outcome.missing(crawls.urls, first, second)
    outcome.twice(first, second)
    return outcome
