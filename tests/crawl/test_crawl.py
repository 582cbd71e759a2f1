"""Real crawls of the bundled site by a spider that knows nothing of this package; tests/guests has their ends."""

import signal
import sqlite3
from collections import Counter
from typing import Any

import pytest

from examples.demo_site.replies import article_path, articles
from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import Project, needs_new_scrapy

ENGLISH = [article for article in articles() if article.lang == "en"][:24]
STORE = ".scrapy/denoise.sqlite"


@pytest.fixture
def crawls(project: Project, server: DemoServer) -> Project:
    project.spider(SPIDER, urls(server))
    return project


def urls(server: DemoServer) -> list[str]:
    return [server.url + article_path(article) for article in ENGLISH]


def quota(pages: int) -> tuple[str, str]:
    return "-s", f"DENOISE_WARMUP_PAGES={pages}"


def has_waiting_rows(project: Project, pages: int) -> bool:
    """Return True if so many rows wait in the store."""
    store = project.folder / STORE
    if not store.exists():
        return False
    db = sqlite3.connect(store, timeout=30)
    try:
        return bool(db.execute("SELECT count(*) FROM parked").fetchone()[0] >= pages)
    except sqlite3.OperationalError:
        return False
    finally:
        db.close()


def assert_one_item_each(items: list[dict[str, Any]], pages: int) -> None:
    counted = Counter(item["url"] for item in items)
    assert set(counted.values()) == {1}
    assert len(counted) == pages
    assert all(item["text"] for item in items)


def assert_waited(crawls: Project, pages: int) -> None:
    """Nothing but the warm-up is parked: those that come while it is released are held by their callbacks."""
    assert crawls.stats["denoise/replayed"] == crawls.stats["denoise/parked"] == pages


@pytest.mark.parametrize("pages", [5, 24, 500])
def test_every_page_gives_one_item_with_clean_text_in_order(
    crawls: Project, server: DemoServer, pages: int
) -> None:
    items = crawls.crawl("articles", *quota(pages))
    assert_one_item_each(items, 24)
    fetched_first = [item["url"] for item in items]
    assert fetched_first == urls(server)
    assert_waited(crawls, min(pages, 24))
    assert crawls.stats["item_scraped_count"] == 24
    assert ("is known after" in crawls.log) == (pages <= 24)
    assert "All rights reserved" not in "".join(item["text"] for item in items)


def test_the_next_crawl_starts_warm(crawls: Project) -> None:
    crawls.crawl("articles", *quota(20))
    again = crawls.crawl("articles", *quota(20), feed="again.jsonl")
    assert_one_item_each(again, 24)
    assert "denoise/parked" not in crawls.stats


def test_items_of_sites_that_stay_short_can_be_dropped(crawls: Project) -> None:
    assert crawls.crawl("articles", *quota(500), "-s", "DENOISE_SHORT_SITES=drop") == []
    assert crawls.stats["denoise/dropped"] == 24


@pytest.mark.parametrize("method", ["one_look", "link_ratio"])
def test_a_method_that_learns_nothing_lets_nothing_wait(crawls: Project, method: str) -> None:
    assert_one_item_each(crawls.crawl("articles", "-s", f"DENOISE_METHOD={method}"), 24)
    assert "denoise/parked" not in crawls.stats


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("DENOISE_METHOD", "svm"),
        ("DENOISE_WARMUP_PAGES", "many"),
        ("DENOISE_SHORT_SITES", "keep"),
        ("DENOISE_SITE", "no.such.function"),
        ("DENOISE_STORE", "/dev/null/store.sqlite"),
        ("DENOISE_ENABLED", "perhaps"),
        ("DENOISE_SKIP_ITEMS", "no.such.Note"),
    ],
)
def test_a_wrong_setting_stops_the_crawl_at_the_start_and_is_named(
    crawls: Project, setting: str, value: str
) -> None:
    process = crawls.start("articles", "-s", f"{setting}={value}")
    assert crawls.ended(process) == []
    assert process.returncode == 1
    assert "Traceback" not in crawls.log
    last = crawls.log.strip().splitlines()[-1]
    assert last.startswith("The crawl cannot begin: ")
    assert setting in last


def test_a_site_is_what_the_setting_says(crawls: Project) -> None:
    crawls.write("sections.py", "def section_of(url):\n    return '/'.join(url.split('/')[3:5])\n")
    items = crawls.crawl("articles", *quota(8), "-s", "DENOISE_SITE=sections.section_of")
    assert_one_item_each(items, 24)
    assert crawls.stats["denoise/sites_ready"] == 3


@needs_new_scrapy
def test_the_bundled_site_comes_out_clean_by_the_site_spider(crawls: Project, server: DemoServer) -> None:
    items = crawls.crawl(
        "site",
        "-a",
        f"start_url={server.url}/en-us",
        "-a",
        "allow=/en-us/.*/ar-",
        "-a",
        "max_pages=15",
        *quota(10),
    )
    assert len(items) == 15
    assert {item["method"] for item in items} == {"fusion"}
    assert all(item["warm"] and item["fetched_at"] and 0 < item["noise_ratio"] < 1 for item in items[1:])
    assert {item["language"] for item in items} <= {"en-us", None}
    by_url = {item["url"]: item["text"] for item in items}
    for article in articles():
        if (text := by_url.get(server.url + article_path(article))) is not None:
            assert article.title in text


def test_an_item_whose_class_is_gone_is_kept_in_a_file_beside_the_store_and_the_others_go_on(
    crawls: Project,
) -> None:
    crawls.interrupted("kinds", *quota(500), when=lambda: has_waiting_rows(crawls, 20), by=signal.SIGKILL)
    crawls.write("test_spiders.py", SPIDER.replace("AttrsItem", "RenamedItem"))
    crawls.write("urls.json", "[]")
    items = crawls.crawl("kinds", *quota(500), feed="after.jsonl")
    assert {item["kind"] for item in items} >= {"dict", "scrapy", "dataclass", "pydantic"}
    assert "attrs" not in {item["kind"] for item in items}
    assert crawls.stats["denoise/unreadable"] >= 2
    aside = crawls.folder / f"{STORE}-unreadable.jsonl"
    assert len(aside.read_text().splitlines()) == crawls.stats["denoise/unreadable"]
    assert aside.stat().st_mode & 0o777 == 0o600
    assert not has_waiting_rows(crawls, 1)
    assert "AttrsItem" in crawls.log


def test_a_project_whose_data_folder_cannot_be_written_is_crawled_with_its_store_in_memory(
    crawls: Project,
) -> None:
    crawls.write("scrapy.cfg", "[settings]\ndefault = project_settings\n[datadir]\ndefault = /proc/denoise\n")
    assert_one_item_each(crawls.crawl("articles", *quota(5)), len(ENGLISH))
    assert crawls.log.count("The data folder of the project cannot be written") == 1
    assert "Traceback" not in crawls.log


def test_an_object_that_itemadapter_does_not_know_passes_and_is_named_once(crawls: Project) -> None:
    spider = SPIDER.replace('yield {"url": response.url}', "yield Strange(url=response.url)", 1)
    strange = "\nfrom collections import UserDict\n\n\nclass Strange(UserDict):\n    pass\n"
    crawls.write("test_spiders.py", strange + spider)
    crawls.crawl("articles", *quota(0))
    assert crawls.stats["denoise/unknown_items"] == len(ENGLISH)
    assert crawls.log.count("itemadapter knows no items of the class") == 1
