"""Hosts that would stop a polite crawl or be asked too often: a real crawl of each, over loopback.

Each crawl has a process of its own. One that does not end within 40 seconds is killed.
"""

import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.bench import options, say, table, write_figures
from denoise_crawler.page.site import canonical_host
from tests import polite_crawl
from tests.polite_crawl import Crawl, Site, delays, serving

PATIENCE = 40  # seconds
ENDLESS = "User-agent: *\nCrawl-delay: 1000000000"
SPELLINGS = ("127.0.0.1", "127.1", "2130706433", "0x7f.1", "127.0.0.1.")


@dataclass(frozen=True)
class Row:
    """What was tried and what came of it: seconds to the end (from the signal, if there is one), its reason."""

    tried: str
    seconds: float | None
    end: str
    pages: int
    dropped: int
    robots_asked: int
    pages_asked: int
    shortest_gap: float | None


def try_crawl(
    name: str, site: Site, urls: list[str], settings: dict[str, Any], ended_by: signal.Signals | None = None
) -> Row:
    """Crawl, and end the crawl by a signal a second after the first request if one is given."""
    with tempfile.TemporaryDirectory() as folder:
        crawl, begun, seconds = Crawl(Path(folder), urls, settings, robots_retry=1), time.monotonic(), None
        try:
            if ended_by:
                while not site.arrivals and time.monotonic() < begun + PATIENCE:
                    time.sleep(0.01)
                time.sleep(1)
                begun = time.monotonic()
                crawl.process.send_signal(ended_by)
            crawl.finish()
            seconds = time.monotonic() - begun
        except subprocess.TimeoutExpired:
            crawl.stats, crawl.pages = {"reason": "none"}, []
    arrivals: dict[str, list[float]] = defaultdict(list)
    for host, _, when, _ in site.arrivals:
        arrivals[canonical_host(host)].append(when)
    robots = sum(path == "/robots.txt" for _, path, *_ in site.arrivals)
    say(f"{name}: {crawl.stats['reason']}")
    return Row(
        name,
        seconds,
        crawl.stats["reason"],
        len(crawl.pages),
        crawl.stats.get("denoise/polite/dropped", 0),
        robots,
        len(site.arrivals) - robots,
        min((b - a for times in arrivals.values() for a, b in pairwise(sorted(times))), default=None),
    )


def rows() -> Iterator[Row]:
    """Try all."""
    quick = delays(0.01, 0.02)
    patient = {**quick, "DENOISE_CRAWL_DELAY_MAX": 1e12}
    ends = {
        "Ctrl-C": (signal.SIGINT, patient),
        "SIGTERM": (signal.SIGTERM, patient),
        "CLOSESPIDER_TIMEOUT = 2": (None, {**patient, "CLOSESPIDER_TIMEOUT": 2}),
    }
    with serving() as site:
        site.robots = {"slow.test": ENDLESS}
        slow, other = site.pages("slow.test", 4), site.pages("a.test", 4)
        yield try_crawl("Crawl-delay of 1,000,000,000 s, another host beside it", site, slow + other, quick)
    for name, (ended_by, settings) in ends.items():
        with serving() as site:
            site.robots = {"slow.test": ENDLESS}
            slow = site.pages("slow.test", 4)
            yield try_crawl(f"waiting for that Crawl-delay, then {name}", site, slow, settings, ended_by)
    with serving() as site:
        urls = [site.url(host, f"of/{host}") for host in SPELLINGS]
        yield try_crawl(f"one host in {len(SPELLINGS)} spellings, gaps of 0.5 s", site, urls, delays(0.5, 0.5))
    with serving() as site:
        site.robots_status = {"down.test": 503}
        settings, down = {**quick, "RETRY_ENABLED": False}, site.pages("down.test", 5)
        yield try_crawl("robots.txt answers 503, asked again after 1 s", site, down, settings)
    with serving() as site:
        urls = [site.url(f"h{number}.test", "page") for number in range(12)]
        one = delays(2, 2, CONCURRENT_REQUESTS=1)
        yield try_crawl("12 hosts, gaps of 2 s, CONCURRENT_REQUESTS = 1", site, urls, one)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    arguments = options(__doc__).parse_args(argv)
    polite_crawl.PATIENCE = PATIENCE
    found = list(rows())
    heads = ["tried", "ended after s", "reason", "pages", "dropped"]
    heads += ["robots.txt asked", "pages asked", "shortest gap s"]
    cells = [
        [
            row.tried,
            "-" if row.seconds is None else f"{row.seconds:.1f}",
            row.end,
            str(row.pages),
            str(row.dropped),
            str(row.robots_asked),
            str(row.pages_asked),
            "-" if row.shortest_gap is None else f"{row.shortest_gap:.2f}",
        ]
        for row in found
    ]
    print(table(heads, cells))
    write_figures(arguments.json, [asdict(row) for row in found])


if __name__ == "__main__":
    main()
