"""Many items of a page wait, each in a row of its own: none is lost, none comes twice, their order stays."""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.guests.guest_project import ADDON, NOBODY, SPIDER, Guest
from tests.guests.test_pages_of_many_items import PIPELINES
from tests.loopback import Served

MANY = 230
OF_MANY = SPIDER.replace(
    '        yield {"url": response.url, "text": ""}',
    f"""
        for number in range({MANY}):
            yield {{"url": response.url, "number": number, "text": "", "html": response.text}}
""",
)
BREAKING_OFF = OF_MANY + "            if number == 120:\n                raise ValueError('the page breaks off')\n"
PAUSING = (
    OF_MANY.replace("import scrapy\n", "import asyncio\n\nimport scrapy\n").replace("def parse", "async def parse")
    + """
        await asyncio.sleep(0.3)
        os.kill(os.getpid(), signal.SIGKILL)
        await asyncio.sleep(60)
        yield {"url": response.url, "number": -1, "text": ""}
"""
)
# Of the writes of items some fail, as on a disk that is full for a while.
FAILING = """
from denoise_crawler.store import Store

_park, _calls = Store.park, [0]


def park(self, page, item):
    _calls[0] += 1
    if _calls[0] in FAILS:
        raise OSError("no room, as this test wants it")
    return _park(self, page, item)


Store.park = park
"""
# A pipeline that downloads keeps what waits in the store when the crawl is ended; this one also ends it.
ENDING = """
import os
import signal

from scrapy.pipelines.files import FilesPipeline


class Ending(FilesPipeline):
    came = 0

    async def process_item(self, item, spider=None):
        Ending.came += 1
        if Ending.came == int(os.environ.get("END_AFTER", "0")):
            os.kill(os.getpid(), signal.SIGINT)
        return item
"""


def pages_of(one_host: list[Served], pages: int) -> list[str]:
    return [f"{one_host[0].url}/page/{number}" for number in range(pages)]


def numbers_by_page(items: list[dict[str, Any]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for item in items:
        found.setdefault(item["url"], []).append(item["number"])
    return found


@pytest.mark.parametrize("us", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
@pytest.mark.parametrize("fails", ["{2, 3}", "range(1, 10_000)"])
@pytest.mark.parametrize("spider", [OF_MANY, BREAKING_OFF], ids=["whole", "breaking off"])
def test_items_that_cannot_be_written_go_on_once_each_and_in_order(
    us: str, fails: str, spider: str, one_host: list[Served], tmp_path: Path
) -> None:
    urls = pages_of(one_host, 3)
    without = Guest(tmp_path / "without", NOBODY, spider=spider)
    expected = numbers_by_page(without.run(urls))
    guest = Guest(tmp_path / "with", us, spider=spider, settings=FAILING.replace("FAILS", fails))
    items = guest.run(urls)
    assert {url: sorted(numbers) for url, numbers in numbers_by_page(items).items()} == expected
    assert all(item["text"] for item in items)
    assert guest.stats["denoise/store_errors"] > 0
    assert guest.stats.get("denoise/parked", 0) == guest.stats.get("denoise/replayed", 0)
    if fails.startswith("range"):
        assert numbers_by_page(items) == expected
        assert "denoise/parked" not in guest.stats


def test_items_wait_in_the_store_before_their_spider_pauses(one_host: list[Served], tmp_path: Path) -> None:
    guest = Guest(tmp_path, ADDON, spider=PAUSING, settings="DENOISE_STORE = 'store.sqlite'\n")
    guest.run(pages_of(one_host, 1))
    assert guest.code == -signal.SIGKILL, guest.log
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM parked").fetchone() == (MANY,)
    guest.write("test_spiders.py", OF_MANY)
    items = guest.run([])
    assert numbers_by_page(items) == {pages_of(one_host, 1)[0]: list(range(MANY))}


@pytest.mark.parametrize("after", [1, 30, 260])
def test_those_that_went_on_before_the_crawl_was_ended_do_not_come_again(
    after: int, one_host: list[Served], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = 'ITEM_PIPELINES = {"ending.Ending": 400}\nCONCURRENT_ITEMS = 5\n'
    guest = Guest(tmp_path, ADDON, spider=OF_MANY, settings=settings, ending=ENDING)
    monkeypatch.setenv("END_AFTER", str(after))
    first = guest.run(pages_of(one_host, 2))
    assert after <= len(first) < 2 * MANY, guest.log
    assert "wait in" in guest.log
    monkeypatch.setenv("END_AFTER", "0")
    then = guest.run([])
    assert len(first) + len(then) == 2 * MANY, guest.log
    assert numbers_by_page(first + then) == {url: list(range(MANY)) for url in pages_of(one_host, 2)}
