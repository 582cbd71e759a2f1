"""Stores made to do harm, opened as a crawl opens them; whole crawls on them are in ``test_faults.py``."""

import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.prepared_stores import PREPARED, VICTIM, victim
from tests.programs import run_python

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs the files of POSIX")

# In a process of its own: what hangs can be ended, and what takes too much memory ends by itself.
OPENING = """
import resource, sys
from pathlib import Path
import tests.faults.test_prepared_stores as tests
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
tests.look_at_all(Path(sys.argv[1]))
"""


def leave(store: Path) -> None:
    """Let ten items wait that no live run holds."""
    from scrapy.http import HtmlResponse, Request

    from denoise_crawler.crawl.parking import cut_html
    from denoise_crawler.crawl.stored_items import pack, response_as_bytes
    from denoise_crawler.store import Store
    from denoise_crawler.store.parked_rows import ParkedPage, ParkedResponse

    opened = Store(store, owner="one")
    for number in range(10):
        url, html = f"https://a.example/{number}", f"<p>Story {number}</p>" * 100
        response = HtmlResponse(url, body=html, encoding="utf-8", request=Request(url))
        parked = ParkedResponse(response_as_bytes(response, html))
        opened.park(ParkedPage("a.example", url, html, b"%d" % number, parked), cut_html(pack({"url": url}), html))
    opened.close()
    with closing(sqlite3.connect(store)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def look_at_all(path: Path) -> None:
    """Print how many items come back, or why the store is refused."""
    from denoise_crawler.crawl.parking import paste_html
    from denoise_crawler.crawl.source_page import source_of_parked
    from denoise_crawler.crawl.stored_items import unpack
    from denoise_crawler.denoiser import Denoiser
    from denoise_crawler.errors import StoreError
    from denoise_crawler.methods.base import InMemoryKnowledge
    from denoise_crawler.store.damage import open_store

    try:
        store = open_store(path, owner="one", job="")
    except StoreError as error:
        print("refused", error)
        return
    store.inherit()
    found = 0
    for parked in store.waiting():
        try:
            source = source_of_parked(store.page(parked.page))
            unpack(paste_html(parked.item, source.to_parked().html))
            found += 1
        except (StoreError, ValueError) as error:
            logging.warning("left: %s", error)
    for site, method in store.known():
        denoiser = Denoiser(method, knowledge=InMemoryKnowledge({site: store.knowledge(site, method)[0]}))
        denoiser.method_for(site)
    store.close()
    print("found", found)


@pytest.mark.parametrize("name", PREPARED)
def test_a_store_made_to_do_harm_is_refused_or_loses_one_item_and_touches_no_other_file(
    name: str, tmp_path: Path
) -> None:
    store = tmp_path / "stores" / "denoise.sqlite"
    victim(store).parent.mkdir()
    victim(store).write_bytes(VICTIM)
    store.parent.mkdir()
    leave(store)
    refused = PREPARED[name](store)
    ended = run_python("-c", OPENING, str(store), folder=Path(__file__).parent.parent.parent)
    said, _, number = ended.stdout.partition(" ")
    assert said == ("refused" if refused else "found"), ended.stdout + ended.stderr
    assert refused or int(number) >= 9, ended.stderr
    assert victim(store).read_bytes() == VICTIM
    assert [path.name for path in victim(store).parent.iterdir()] == ["victim"]
