"""A crawl with worker processes writes what it writes without them: the same items, in the same order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.guests.guest_project import ADDON, SPIDER, Guest, addresses
from tests.guests.site import hosts
from tests.guests.test_warmup_time import PIPELINES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.loopback import Served

# No page is asked for while items of another are on their way: on a slow machine it would overtake some of them.
ONE_AT_A_TIME = """
CONCURRENT_REQUESTS = 1
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 1
DENOISE_EXTRA_FIELDS = {"confidence": "confidence", "warm": "warm", "noise_ratio": "noise"}
"""
PLAIN = SPIDER.replace('"CONCURRENT_REQUESTS": 8, ', "")
SEVERAL = """
        yield {"url": response.url + "#own", "text": "A text of its own."}
        yield {"url": response.url, "text": ""}
        yield {"url": response.url + "#part", "text": "", "denoise_part": "div.story"}
        yield {"url": response.url + "#too", "text": ""}
"""
SPIDERS = {
    "an item a page": PLAIN,
    "items of several kinds": PLAIN.replace(PLAIN[PLAIN.index("        yield {") :], SEVERAL.lstrip("\n")),
    "with their HTML": PLAIN.replace('"text": ""', '"text": "", "html": response.text'),
}
WAYS = {"an item a page": ADDON, "items of several kinds": ADDON, "with their HTML": PIPELINES}


@pytest.fixture(scope="module")
def served() -> Iterator[list[Served]]:
    with hosts(2) as running:
        yield running


def crawled(folder: Path, way: str, urls: list[str], workers: int) -> bytes:
    """Crawl with as many workers and return the feed."""
    settings = f"{ONE_AT_A_TIME}DENOISE_WORKERS = {workers}\n"
    guest = Guest(folder, WAYS[way], spider=SPIDERS[way], settings=settings)
    assert guest.run(urls)
    assert "] ERROR" not in guest.log
    assert guest.log.count("is known after 6 pages; 0 items") == 0, guest.log
    return (folder / "out.jsonl").read_bytes()


@pytest.mark.parametrize("way", WAYS)
def test_with_a_worker_the_feed_is_the_same_to_the_byte(way: str, served: list[Served], tmp_path: Path) -> None:
    urls = addresses(served[:1], 20)
    without = crawled(tmp_path / "without", way, urls, 0)
    assert crawled(tmp_path / "with", way, urls, 1) == without


def test_with_two_workers_each_site_has_the_same_items_in_the_same_order(
    served: list[Served], tmp_path: Path
) -> None:
    first, second = (addresses([host], 20) for host in served)
    urls = [url for pair in zip(first, second, strict=True) for url in pair]
    feeds = [crawled(tmp_path / str(number), "items of several kinds", urls, number) for number in (0, 2)]
    for host in served:
        without, with_workers = (
            [line for line in feed.splitlines() if json.loads(line)["url"].startswith(host.url)] for feed in feeds
        )
        assert with_workers == without
