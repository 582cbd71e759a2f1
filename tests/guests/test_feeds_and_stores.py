"""What waits comes out once, where it belongs: feeds that take nothing, stores that several share."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.guests.guest_project import SPIDER, Guest, addresses, signal_after
from tests.loopback import Served
from tests.scrapy_process import ScrapyProcess


def urls_of(items: list[dict[str, Any]]) -> list[str]:
    return sorted(item["url"] for item in items)


NOTING = """
import json


class Noting:
    def process_item(self, item):
        with open("noted.jsonl", "a") as file:
            file.write(json.dumps(dict(item)) + "\\n")
        return item


class Nothing:
    def __init__(self, feed_options):
        pass

    def accepts(self, item):
        return False


class Other:
    pass
"""
NOTHING_BY = {
    "its filter": '{"format": "jsonlines", "item_filter": "noting.Nothing"}',
    "its classes": '{"format": "jsonlines", "item_classes": ["noting.Other"]}',
}


@pytest.mark.parametrize(("by", "pages"), [("its filter", 8), ("its classes", 4)])
def test_a_feed_that_takes_no_item_has_not_failed_and_nothing_comes_again(
    by: str, pages: int, two_hosts: list[Served], tmp_path: Path
) -> None:
    settings = "FEED_STORE_EMPTY = False\n"
    settings += f'FEEDS = {{"none.jsonl": {NOTHING_BY[by]}}}\nITEM_PIPELINES = {{"noting.Noting": 500}}\n'
    guest = Guest(tmp_path, settings=settings, noting=NOTING)
    urls = addresses(two_hosts[:1], pages)
    guest.run(urls, feed=None)
    assert urls_of(guest.items("noted.jsonl")) == urls, guest.log
    assert "A feed failed" not in guest.log
    assert "ERROR" not in guest.log
    guest.run([], feed=None)
    assert urls_of(guest.items("noted.jsonl")) == urls, guest.log


ONE_BY_ONE = ("-s", "CONCURRENT_REQUESTS=1")  # so that a page is parked when the next one comes
SHOP = """
ADDONS = {"denoise_crawler.Addon": 300}
BOT_NAME = "NAME"
SPIDER_MODULES = ["NAME_spiders"]
DENOISE_STORE = "../shared.sqlite"
"""


def test_what_waits_in_a_store_that_two_projects_share_comes_out_in_its_own_project(
    two_hosts: list[Served], tmp_path: Path
) -> None:
    one, two = (
        Guest(tmp_path / name, SHOP.replace("NAME", name), **{f"{name}_spiders": SPIDER})
        for name in ("one", "two")
    )
    first, second = addresses(two_hosts[:1], 4), addresses(two_hosts[1:], 3)
    killed = one.run(first, *ONE_BY_ONE, *signal_after(4, signal.SIGKILL))
    assert one.code == -signal.SIGKILL
    assert killed == []
    assert urls_of(two.run(second)) == second, two.log
    left = urls_of(one.run([]))
    assert left
    assert set(left) < set(first), one.log


def at_once(folder: Path, script: str, processes: int, **begin: float) -> list[str]:
    """Run a script in several processes that begin at the same moment; return what they wrote."""
    (folder / "opening.py").write_text(script)
    (folder / "begin.json").write_text(json.dumps({"at": time.time() + 2.0, **begin}))
    logs = [folder / f"{number}.log" for number in range(processes)]
    started = [ScrapyProcess(folder, out=log, passing=True, script="opening.py") for log in logs]
    codes = [process.wait(60) for process in started]
    written = [log.read_text() for log in logs]
    assert not any(codes), written
    return written


STORES = """
import json
import time
from pathlib import Path

from denoise_crawler.errors import StoreError
from denoise_crawler.store import Store

if __name__ == "__main__":
    begin = json.loads(Path("begin.json").read_text())
    for number in range(begin["times"]):
        while time.time() < begin["at"] + number * begin["every"]:
            pass
        try:
            Store(f"store-{number}.sqlite").close()
        except StoreError as error:
            print(error)
"""


def test_a_new_store_can_be_opened_by_several_processes_at_once(tmp_path: Path) -> None:
    assert at_once(tmp_path, STORES, 3, every=0.04, times=100) == ["", "", ""]
