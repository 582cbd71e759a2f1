"""What goes wrong in a crawl costs no item: a mistake of ours, a page that kills, other crawls beside it."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_of
from denoise_crawler.store import Store
from denoise_crawler.store.knowledge import SharedStore
from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import Project
from tests.crawl.test_crawl import urls
from tests.crawl.test_redesign import OLD, pages
from tests.faults.crawls import PAGES, Crawls

BREAKING = """
def fail(self, *args, **kwargs):
    raise TypeError("a mistake in {name}")


from denoise_crawler.{module} import {kind}
{kind}.{name} = fail
"""
BREAKS = {
    "Sites.of": "crawl.sites",
    "Sites.learn": "crawl.sites",
    "Sites.clean": "crawl.sites",
    "WaitingItems.park": "crawl.parked_items",
    "WaitingItems.inherit": "crawl.parked_items",
    "WaitingItems.count": "crawl.parked_items",
    "WarmupQueue._must_wait": "crawl.warmup",
    "CrawlDenoiser._fill_released": "crawl.crawl_denoiser",
    "Fusion.to_bytes": "methods.fusion.method",
    "Store.save_state": "store",
}

# Where the limit of 64 MB is looked up.
LIMITED = [f"denoise_crawler.{name}" for name in ("methods.stored_bytes", "store.store", "crawl.parked_items")]


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
    crawls.write("project_settings.py", settings + broken("WaitingItems.release", "crawl.parked_items"))
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


@pytest.mark.fails_on_a_page
def test_an_item_on_whose_page_we_fail_has_the_error_in_the_field_that_is_named_for_it(
    tmp_path: Path, server: DemoServer
) -> None:
    urls = Crawls(tmp_path, server).urls
    settings = f"HARMFUL = {urls[5]!r}\nDENOISE_EXTRA_FIELDS = {{'error': 'why'}}\n{RAISES}"
    crawls = Crawls(tmp_path, server, settings=settings)
    items = crawls.run(feed="out.jsonl")
    assert sorted(item["url"] for item in items) == sorted(urls)
    [failed] = [item for item in items if item.get("why")]
    assert (failed["url"], failed.get("text")) == (urls[5], None)
    assert "ZeroDivisionError: no such page" in failed["why"]


WALL = """<body class=old><ul class=menu><li>Home<li>News<li>Contact us</ul><div class=story>
<h1>Please sign in</h1>
<p>This story is for members only, and {} of them have signed in today to read it to the end.</p></div></body>"""


def login_walls(count: int) -> list[Page]:
    return [Page.parse(f"https://example.com/wall/{number}", WALL.format(number)) for number in range(count)]


def evidence_of(found: list[Page], max_pages: int = 128) -> SiteEvidence:
    evidence = SiteEvidence(max_pages)
    for page in found:
        blocks = blocks_of(page)
        evidence.add(page.key, blocks, np.zeros(len(blocks)))
    return evidence


def site_stats_for(evidence: SiteEvidence, page: Page) -> tuple[int, list[float]] | None:
    found = evidence.site_stats_for(page.key, blocks_of(page))
    return None if found is None else (found.pages, found.texts.tolist())


def test_a_page_under_a_thousand_addresses_counts_once() -> None:
    real = pages(OLD, 9)
    poisoned, sound = evidence_of(real + login_walls(1_000), 2_000), evidence_of(real + login_walls(1), 2_000)
    for page in real:
        assert site_stats_for(poisoned, page) == site_stats_for(sound, page)


def test_a_repeated_page_is_judged_as_if_it_stood_there_once() -> None:
    found = login_walls(60)
    assert site_stats_for(evidence_of(found), found[3]) is None
    method = MethodChoice("fusion").new()
    for page in found:
        method.observe(page)
    assert "for members only" in clean_text(found[7], method.judge(found[7]).noise)


@given(order=st.permutations(range(10)), limit=st.integers(1, 10))
@settings(max_examples=15)
def test_what_copies_say_does_not_hang_on_the_order_they_come_in(order: list[int], limit: int) -> None:
    found = pages(OLD, 4) + login_walls(6)
    stranger = pages(OLD, 5)[-1]
    straight, shuffled = evidence_of(found, limit), evidence_of([found[number] for number in order], limit)
    assert site_stats_for(straight, stranger) == site_stats_for(shuffled, stranger)
    assert straight.to_bytes() == shuffled.to_bytes()
    shuffled.merge(straight)
    assert site_stats_for(straight, found[-1]) == site_stats_for(shuffled, found[-1])


def crawl_halves(project: Project, pages: list[str], *settings: str) -> None:
    """Crawl each half of ``pages`` in a process of its own, both at the same time."""
    started = []
    for name, part in (("one", pages[:12]), ("two", pages[12:])):
        project.write(f"{name}.json", json.dumps(part))
        project.write(f"{name}_spiders.py", SPIDER.replace("urls.json", f"{name}.json"))
        own = [setting.replace("NAME", name) for setting in (*settings, "SPIDER_MODULES=NAME_spiders")]
        arguments = [argument for setting in own for argument in ("-s", setting)]
        started.append((project.start("html", *arguments, feed=f"{name}.jsonl"), name))
    for process, name in started:
        assert len(project.ended(process, f"{name}.jsonl")) == 12, project.log


def pages_known(parts: Iterable[bytes]) -> int:
    method = Fusion()
    for part in parts:
        method.merge_bytes(part)
    return method.pages_known


def test_two_crawls_at_the_same_time_on_one_store_file_lose_nothing_of_what_they_learn(
    project: Project, server: DemoServer
) -> None:
    crawl_halves(project, urls(server), "DENOISE_STORE=s.sqlite")
    with closing(Store(project.folder / "s.sqlite")) as store:
        [(site, stored)] = store.sites().items()
        [key] = stored.known_by
        assert pages_known(store.knowledge(site, key)) == 24


def test_two_crawls_at_the_same_time_on_a_shared_folder_lose_nothing_and_warm_the_next(
    project: Project, server: DemoServer
) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    pages = urls(server)
    crawl_halves(project, pages, "DENOISE_SHARED_STORE=shared", "DENOISE_STORE=NAME.sqlite")
    store = SharedStore(str(project.folder / "shared"))
    assert pages_known(store.knowledge(site_of(pages[0]), Fusion.name)) == 24
    project.spider(SPIDER, pages[:3])
    third = ("-s", "DENOISE_SHARED_STORE=shared", "-s", "DENOISE_STORE=three.sqlite")
    assert len(project.crawl("html", *third)) == 3, project.log
    assert "denoise/parked" not in project.stats


def test_a_shared_folder_that_cannot_be_used_ends_the_crawl_in_one_line(project: Project) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    project.write("test_spiders.py", SPIDER)
    project.write("file", "")
    project.crawl("html", "-s", "DENOISE_SHARED_STORE=file/shared")
    assert "The crawl cannot begin: the shared store file/shared cannot be used: " in project.log
    assert "Traceback" not in project.log


AHEAD_SPIDER = """
import asyncio
from contextvars import ContextVar
import scrapy

SEEN = ContextVar("SEEN", default=None)

class AheadSpider(scrapy.Spider):
    name = "ahead"
    start_urls = ["data:text/html,<p>One story of the harbour."]

    async def parse(self, response):
        token, task = SEEN.set(response.url), asyncio.current_task()
        yield {"number": 1}
        await asyncio.sleep(0.01)
        for number in range(2, 302):
            yield {"number": number}
        SEEN.reset(token)
        yield {"number": 302, "same_task": asyncio.current_task() is task}
        raise ValueError("of the spider")
"""


@pytest.mark.parametrize("pages", [0, 5])
def test_a_callback_runs_in_one_context_and_its_error_costs_no_item(project: Project, pages: int) -> None:
    project.write("test_spiders.py", AHEAD_SPIDER)
    items = project.crawl("ahead", "-s", f"DENOISE_WARMUP_PAGES={pages}")
    assert [item["number"] for item in items] == list(range(1, 303))
    assert items[-1]["same_task"]
    assert all(item["text"] == "One story of the harbour." for item in items)
    assert project.stats["spider_exceptions/ValueError"] == 1
