"""A spider that changes the tree of its page: what the docs promise of the text."""

from pathlib import Path

import pytest

from tests.guests.guest_project import ADDON, SPIDER, Guest, addresses
from tests.guests.site import story
from tests.loopback import Served

QUOTA, PAGES = 68, 72  # more pages wait than are kept in memory
CUT = """
        for paragraph in response.css(".story p:first-child"):
            paragraph.drop()
"""
OWN = "a text of its own"
YIELD = '        yield {"url": response.url, "text": ""HTML}\n'
SETTINGS = (
    f"DENOISE_WARMUP_PAGES={QUOTA}",
    "DENOISE_WARMUP_SECONDS=0",
    "CONCURRENT_REQUESTS=1",
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE=1",  # no page is asked for while those that waited are released
    "FEED_EXPORT_FIELDS=url,text",
)
ARGUMENTS = tuple(part for setting in SETTINGS for part in ("-s", setting))


def run_crawl(folder: Path, one_host: list[Served], parse: str) -> dict[str, list[bool]]:
    """Crawl; return by page which of the paragraphs of its story are in the text of its last item."""
    spider = SPIDER.replace('        yield {"url": response.url, "text": ""}\n', parse)
    guest = Guest(folder, ADDON, spider=spider)
    items = guest.run(addresses(one_host, PAGES), *ARGUMENTS)
    assert 1 <= guest.stats["denoise/parked"] < len(items)
    items = [item for item in items if item["text"] != OWN]
    assert len(items) == PAGES, guest.log
    names = {item["url"]: item["url"].rpartition("/")[2] for item in items}
    return {item["url"]: [each in item["text"] for each in story(names[item["url"]])] for item in items}


def test_a_tree_that_is_changed_after_its_item_came_changes_no_text(
    one_host: list[Served], tmp_path: Path
) -> None:
    found = run_crawl(tmp_path, one_host, YIELD.replace("HTML", "") + CUT)
    assert set(map(all, found.values())) == {True}


def test_a_tree_that_is_changed_after_an_item_with_a_text_of_its_own_changes_no_text(
    one_host: list[Served], tmp_path: Path
) -> None:
    own = f'        yield {{"url": response.url, "text": "{OWN}"}}\n'
    found = run_crawl(tmp_path, one_host, own + CUT + YIELD.replace("HTML", ""))
    assert set(map(all, found.values())) == {True}


def test_what_was_cut_before_is_missing_unless_the_page_is_read_from_the_store(
    one_host: list[Served], tmp_path: Path
) -> None:
    found = run_crawl(tmp_path, one_host, CUT + YIELD.replace("HTML", ""))
    assert all(all(kept[1:]) for kept in found.values())
    pages = addresses(one_host, PAGES)
    assert [found[url][0] for url in pages[-2:]] == [False, False]  # they did not wait
    assert found[pages[0]][0]  # it waited long


@pytest.mark.parametrize("html", ["response.selector.get()", 'response.css("html").get()'])
def test_an_item_that_carries_the_changed_page_has_its_text_whether_it_waited_or_not(
    html: str, one_host: list[Served], tmp_path: Path
) -> None:
    found = run_crawl(tmp_path, one_host, CUT + YIELD.replace("HTML", f', "html": {html}'))
    assert set(map(tuple, found.values())) == {(False, True, True, True)}


def test_a_spider_that_changes_a_tree_of_its_own_changes_no_text(one_host: list[Served], tmp_path: Path) -> None:
    own = "        from parsel import Selector\n\n        own = Selector(response.text)\n" + CUT.replace(
        "response", "own"
    )
    found = run_crawl(tmp_path, one_host, own + YIELD.replace("HTML", ""))
    assert set(map(all, found.values())) == {True}
