"""With worker processes a crawl writes the items it writes without them, those of a page in the same order.

Items of different pages may change places: while those that waited are in the pipelines, the next page may arrive.
"""

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

ONE_AT_A_TIME = """
CONCURRENT_REQUESTS = 1
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
WAYS = {
    "an item a page": ADDON,
    "items of several kinds": ADDON,
    "with their HTML": PIPELINES,
}


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


def by_page(feed: bytes, url: str = "") -> list[bytes]:
    """Return the lines of a feed whose URL begins so, by page; those of a page in their order."""
    pages = [(json.loads(line)["url"].partition("#")[0], line) for line in feed.splitlines()]
    return [line for page, line in sorted(pages, key=lambda pair: pair[0]) if page.startswith(url)]


@pytest.mark.parametrize("way", WAYS)
def test_with_a_worker_the_items_of_each_page_are_the_same_to_the_byte(
    way: str, served: list[Served], tmp_path: Path
) -> None:
    urls = addresses(served[:1], 20)
    without = crawled(tmp_path / "without", way, urls, 0)
    assert by_page(crawled(tmp_path / "with", way, urls, 1)) == by_page(without)


def test_with_two_workers_the_items_of_each_page_are_the_same(served: list[Served], tmp_path: Path) -> None:
    first, second = (addresses([host], 20) for host in served)
    urls = [url for pair in zip(first, second, strict=True) for url in pair]
    without, with_workers = (
        crawled(tmp_path / str(number), "items of several kinds", urls, number) for number in (0, 2)
    )
    for host in served:
        assert by_page(with_workers, host.url) == by_page(without, host.url)
