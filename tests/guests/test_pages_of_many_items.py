"""A page with many items costs what a page with one costs: its HTML is stored once and it is judged once."""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.guests.guest_project import ADDON, PIPELINES, SPIDER, Guest, signal_after
from tests.guests.site import html, story
from tests.loopback import HTML, Answer, Served

MANY = 100
OF_EACH_ENTRY = SPIDER.replace(
    '        yield {"url": response.url, "text": ""}',
    """
        for number in range(self.settings.getint("ITEMS_OF_A_PAGE")):
            yield {"url": response.url, "number": number, "text": ""}
""",
)
# Counts how often each page is judged, by the class of the method, which any crawl uses.
COUNTING = """
from denoise_crawler.methods.fusion.method import Fusion

_judge = Fusion.judge


def judge(self, page):
    with open("judged.txt", "a") as file:
        file.write(page.url + "\\n")
    return _judge(self, page)


Fusion.judge = judge
"""


def answer(path: str) -> Answer:
    """Answer with a page of some 60 KB that is as hard to compress as those of the web."""
    name = path.rpartition("/")[2]
    entries = "".join(f"<li><p>{' '.join(story(f'{name} entry {number}'))}</p></li>" for number in range(60))
    return Answer(200, HTML, html(name, f"<ol>{entries}</ol>").encode())


def stored_bytes(store: Path) -> int:
    """Return the size of a store, what its log holds included."""
    with closing(sqlite3.connect(store)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store.stat().st_size


def run_crawl(
    folder: Path, us: str, items: int, served: Served, pages: int, *arguments: str, settings: str = ""
) -> Guest:
    with_html = us == PIPELINES
    spider = (
        OF_EACH_ENTRY.replace('"text": ""', '"text": "", "html": response.text') if with_html else OF_EACH_ENTRY
    )
    settings += f"ITEMS_OF_A_PAGE = {items}\nDENOISE_STORE = 'store.sqlite'\n"
    guest = Guest(folder, us, spider=spider, settings=settings)
    guest.run([f"{served.url}/page/{number}" for number in range(pages)], *arguments)
    return guest


@pytest.mark.parametrize("us", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_the_html_of_a_page_with_many_items_is_stored_once_while_they_wait(
    us: str, served: Served, tmp_path: Path
) -> None:
    sizes = []
    for items in (1, MANY):
        wait = ("-s", "DENOISE_WARMUP_PAGES=100", "-s", "CONCURRENT_REQUESTS=1")
        guest = run_crawl(tmp_path / str(items), us, items, served, 8, *wait, *signal_after(8, signal.SIGKILL))
        assert guest.code == -signal.SIGKILL, guest.log
        sizes.append(stored_bytes(guest.folder / "store.sqlite"))
    assert sizes[1] <= 2.6 * sizes[0]


@pytest.mark.parametrize("us", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_a_store_is_as_small_after_a_crawl_of_many_items_as_after_one_of_few(
    us: str, served: Served, tmp_path: Path
) -> None:
    sizes = []
    for items in (1, MANY):
        guest = run_crawl(tmp_path / str(items), us, items, served, 7)
        assert len(guest.items()) == 7 * items, guest.log
        sizes.append(stored_bytes(guest.folder / "store.sqlite"))
    assert sizes[1] <= 2.6 * sizes[0]


@pytest.mark.parametrize("us", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_a_page_with_many_items_is_judged_once(us: str, served: Served, tmp_path: Path) -> None:
    guest = run_crawl(tmp_path, us, 10, served, 8, settings=COUNTING)
    assert len(guest.items()) == 8 * 10, guest.log
    judged = (tmp_path / "judged.txt").read_text().split()
    assert sorted(judged) == sorted({item["url"] for item in guest.items()})
