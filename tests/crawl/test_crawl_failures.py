"""A mistake of ours at any step of a crawl: every item comes out once, and the store is closed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.faults.crawls import PAGES, Crawls

if TYPE_CHECKING:
    from pathlib import Path

    from denoise_crawler.demo.server import DemoServer

BREAKING = """
def fail(self, *args, **kwargs):
    raise TypeError("a mistake in {name}")


from denoise_crawler.{module} import {kind}
{kind}.{name} = fail
"""
BREAKS = {
    "Sites.must_wait": "crawl.sites",
    "Sites.learn": "crawl.sites",
    "Sites.save": "crawl.sites",
    "Sites.is_ready": "crawl.sites",
    "WaitingItems.park": "crawl.parking",
    "WaitingItems.inherit": "crawl.parking",
    "WaitingItems.count": "crawl.parking",
    "WaitingItems._count": "crawl.parking",
    "WaitingItems._cache": "crawl.parking",
    "ItemFate._fill_released": "crawl.item_fate",
    "ItemFate._release_overdue": "crawl.item_fate",
    "Sites.clean": "crawl.sites",
    "ItemFate._judge_for": "crawl.item_fate",
    "ItemFate._filled": "crawl.item_fate",
    "ItemLimits.uncount_released": "crawl.parking",
    "SharedTurn.begin_item": "crawl.event_loop",
    "SiteTurns.of": "crawl.event_loop",
    "Fusion.to_bytes": "methods.fusion.method",
    "Store.save_state": "store",
}

# Where the limit of 64 MB is looked up.
LIMITED = [
    f"denoise_crawler.{name}" for name in ("methods.versioned_format", "store.parked_rows", "crawl.parking")
]


def broken(what: str, module: str) -> str:
    kind, _, name = what.partition(".")
    return BREAKING.format(kind=kind, name=name, module=module)


def run_of(store: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(store)) as db:
        return db.execute("SELECT name FROM run").fetchall()


@pytest.mark.fails_on_a_page
@pytest.mark.parametrize("what", BREAKS)
def test_a_mistake_in_one_step_costs_no_item_and_leaves_the_store_closed(
    what: str, tmp_path: Path, server: DemoServer
) -> None:
    crawls = Crawls(tmp_path, server)
    crawls.leave_parked(3)
    crawls.write(
        "project_settings.py", (tmp_path / "project_settings.py").read_text() + broken(what, BREAKS[what])
    )
    items = crawls.run(feed="after.jsonl", quota=16)
    assert sorted(item["url"] for item in items) == sorted(crawls.urls)
    assert len(items) == PAGES
    assert crawls.code == 0
    counted = crawls.stats.get("denoise/failed", 0) + crawls.stats.get("denoise/store_errors", 0)
    assert counted or what == "WaitingItems.count"  # that is asked for when the stats are written
    assert f"a mistake in {what.partition('.')[2]}" in crawls.log
    assert not list(tmp_path.glob("denoise.sqlite-wal"))
    assert len(run_of(crawls.store)) <= 1  # the one that was killed


def test_what_waits_stays_for_the_next_run_where_it_cannot_be_let_go(tmp_path: Path, server: DemoServer) -> None:
    crawls = Crawls(tmp_path, server)
    settings = (tmp_path / "project_settings.py").read_text()
    crawls.write("project_settings.py", settings + broken("WaitingItems.release", "crawl.parking"))
    assert crawls.run(feed="first.jsonl", quota=500) == []
    assert crawls.code == 0
    assert crawls.stats["denoise/failed"] == 1
    assert len(crawls.parked()) == PAGES
    crawls.write("project_settings.py", settings)
    crawls.fetch([])
    assert sorted(item["url"] for item in crawls.run(feed="after.jsonl")) == sorted(crawls.urls)


def test_items_larger_than_the_store_reads_again_are_cleaned_at_once(tmp_path: Path, server: DemoServer) -> None:
    crawls = Crawls(tmp_path, server)
    smaller = "".join(f"import {name}\n{name}.MAX_BYTES = 1_000\n" for name in LIMITED)
    crawls.write("project_settings.py", (tmp_path / "project_settings.py").read_text() + smaller)
    items = crawls.run(feed="out.jsonl", quota=500)
    assert sorted(item["url"] for item in items) == sorted(crawls.urls)
    assert crawls.stats["denoise/unparkable"] == PAGES
    assert "with its page and response it has more than" in crawls.log


RAISES = """
from denoise_crawler.methods.fusion.method import Fusion

judge = Fusion.judge


def raising(self, page):
    if page.url == HARMFUL:
        raise ZeroDivisionError("no such page")
    return judge(self, page)


Fusion.judge = raising
"""
KILLS = """
import os
import signal

DENOISE_WORKERS, DENOISE_MIN_CONFIDENCE, DENOISE_LOW_CONFIDENCE = 1, 1.0, "project_settings:write"


def write(url, html):
    if url == HARMFUL:
        os.kill(os.getpid(), signal.SIGKILL)
    return ""
"""


@pytest.mark.fails_on_a_page
@pytest.mark.parametrize(
    ("harm", "said"), [(RAISES, "ZeroDivisionError: no such page"), (KILLS, "killed by SIGKILL")]
)
def test_an_item_on_whose_page_we_fail_has_the_error_in_the_field_that_is_named_for_it(
    harm: str, said: str, tmp_path: Path, server: DemoServer
) -> None:
    urls = Crawls(tmp_path, server).urls
    settings = f"HARMFUL = {urls[5]!r}\nDENOISE_EXTRA_FIELDS = {{'error': 'why'}}\n{harm}"
    crawls = Crawls(tmp_path, server, settings=settings)
    items = crawls.run(feed="out.jsonl")
    assert sorted(item["url"] for item in items) == sorted(urls)
    [failed] = [item for item in items if item.get("why")]
    assert (failed["url"], failed.get("text")) == (urls[5], None)
    assert said in failed["why"]
