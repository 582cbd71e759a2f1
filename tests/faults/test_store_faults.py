"""A store whose file fails, at the level of the store; whole crawls are in ``test_faults.py``."""

import logging
import os
import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, Request

from denoise_crawler.crawl.stored_items import pack, response_as_bytes, response_from_bytes, unpack
from denoise_crawler.errors import DamagedRowError, StoreError, UnparkableError
from denoise_crawler.store import Store
from denoise_crawler.store.damage import open_store
from denoise_crawler.store.parked_rows import ParkedPage

PAGES = 40
# instead of the table of sites, one row after another without an end
ENDLESS_VIEW = (
    "DROP TABLE site; CREATE VIEW site AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
    "SELECT x AS name, x AS method, x AS knowledge, x AS pages_seen, x AS ready FROM n; "
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "denoise.sqlite"


def left_by_a_dead_run(path: Path, pages: int = PAGES) -> None:
    """Let ``pages`` wait that no live run holds, all in the file itself."""
    store = Store(path, owner="one")
    for number in range(pages):
        page = ParkedPage("a.example", f"/{number}", os.urandom(1_500).hex(), b"%d" % number)
        store.park(page, b"item %d" % number)
    store.save_knowledge("a.example", "fusion", b"tree", lambda parts: parts[0])
    store.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def waiting(store: Store) -> list[bytes]:
    store.inherit()
    return [parked.item for parked in store.waiting()]


@pytest.mark.parametrize("share", [0.4, 0.6, 0.9])
def test_what_can_be_read_of_a_store_that_was_cut_waits_in_a_new_one(
    path: Path, share: float, caplog: pytest.LogCaptureFixture
) -> None:
    left_by_a_dead_run(path)
    whole = path.read_bytes()
    os.truncate(path, int(len(whole) * share))
    with caplog.at_level(logging.ERROR), closing(open_store(path, owner="one", job="")) as store:
        found = waiting(store)
        assert 0 < len(found) < PAGES
        assert found == [item for item in (b"item %d" % number for number in range(PAGES)) if item in found]
    (record,) = caplog.records
    assert "set aside as" in record.message
    assert f"{len(found)} waiting items" in record.message
    assert path.with_name("denoise.sqlite.damaged-1").read_bytes() == whole[: int(len(whole) * share)]


def test_stores_set_aside_do_not_overwrite_each_other(path: Path) -> None:
    for _ in range(3):
        left_by_a_dead_run(path)
        os.truncate(path, path.stat().st_size // 2)
        open_store(path, owner="one", job="").close()
    assert len(list(path.parent.glob("denoise.sqlite.damaged-[123]"))) == 3


def test_a_sound_store_is_left_where_it_is(path: Path) -> None:
    left_by_a_dead_run(path)
    with closing(open_store(path, owner="one", job="")) as store:
        assert len(waiting(store)) == PAGES
        assert store.knowledge("a.example", "fusion") == [b"tree"]
    assert not list(path.parent.glob("*damaged*"))


def test_a_page_whose_bytes_are_damaged_stays_and_the_others_come(path: Path) -> None:
    left_by_a_dead_run(path, 3)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE page SET html = ? WHERE id = 1", (zlib.compress(b"page")[:-2],))
        db.execute("UPDATE parked SET items = ? WHERE id = 3", (b"no zlib",))
        db.commit()
    with closing(Store(path, owner="one")) as store:
        assert waiting(store) == [b"item 0", b"item 1"]
        assert store.waiting_count() == 3
        store.page(2)
        with pytest.raises(DamagedRowError, match="/0"):
            store.page(1)


def test_a_store_with_a_view_in_the_place_of_a_table_is_refused_though_it_is_damaged(path: Path) -> None:
    left_by_a_dead_run(path)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(ENDLESS_VIEW)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    body = bytearray(path.read_bytes())
    body[-8192:] = os.urandom(8192)
    path.write_bytes(body)
    with pytest.raises(StoreError, match="another program changed it"):
        open_store(path, owner="one", job="")
    assert path.read_bytes() == bytes(body)


def test_a_store_with_a_view_in_the_place_of_a_table_is_not_read_though_its_schema_is_damaged(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    left_by_a_dead_run(path)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(ENDLESS_VIEW)
        db.executescript(
            "PRAGMA writable_schema = ON; "
            "INSERT INTO sqlite_master VALUES ('view', 'odd', 'odd', 0, 'CREATE VIEW odd AS nonsense (')"
        )
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with caplog.at_level(logging.ERROR), closing(open_store(path, owner="one", job="")) as store:
        assert store.inherit() == 0
    assert "Nothing of" in caplog.text


def test_items_of_a_run_whose_feed_failed_wait_again(path: Path) -> None:
    left_by_a_dead_run(path, 2)
    store = Store(path, owner="one")
    store.inherit()
    for parked in store.waiting():
        store.release(parked)
    store.close(safe=False)
    with closing(Store(path, owner="one")) as after:
        assert waiting(after) == [b"item 0", b"item 1"]


@pytest.mark.parametrize("safe", [True, False])
def test_a_run_that_ends_on_a_full_disk_hands_on_each_item_once_unless_its_feed_failed(
    path: Path, safe: bool
) -> None:
    resource = pytest.importorskip("resource")
    left_by_a_dead_run(path, 4)
    store = Store(path, owner="one")
    store.inherit()
    for parked in list(store.waiting())[:3]:
        store.release(parked)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        with pytest.raises(sqlite3.Error):
            store.close(safe=safe)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with closing(Store(path, owner="one")) as after:
        assert waiting(after) == [b"item %d" % number for number in ([3] if safe else range(4))]
    assert list(path.with_name("denoise.sqlite-runs").iterdir()) == []


@given(st.data())
def test_damaged_items_are_refused_and_raise_nothing_else(data: st.DataObject) -> None:
    packed = bytearray(pack({"url": "u", "tags": {"a", "b"}, "n": 1.5}))
    for _ in range(data.draw(st.integers(1, 3))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    with suppress(UnparkableError):
        unpack(bytes(packed))


@given(st.data())
def test_damaged_responses_are_refused_and_raise_nothing_else(data: st.DataObject) -> None:
    request = Request("https://a.example/", headers={"A": "b"}, meta={"depth": 3, "page": {"a": (1,)}})
    response = HtmlResponse(
        request.url, headers={"Set-Cookie": "a=b"}, body="<p>é", encoding="cp1252", request=request
    )
    stored = bytearray(response_as_bytes(response, data.draw(st.sampled_from((None, "<p>é")))))
    for _ in range(data.draw(st.integers(1, 3))):
        stored[data.draw(st.integers(0, len(stored) - 1))] = data.draw(st.integers(0, 255))
    with suppress(DamagedRowError):
        response_from_bytes(bytes(stored), "<p>é")


def test_a_value_of_meta_that_is_an_item_is_not_asked_for_anything() -> None:
    asked = []

    class Asking(dict):  # type: ignore[type-arg]
        def __getitem__(self, name: object) -> object:
            asked.append(name)
            return dict.__getitem__(self, name)

    Asking.__module__, Asking.__qualname__ = __name__, "Asking"
    globals()["Asking"] = Asking
    request = Request("https://a.example/", meta={"mine": 1})
    stored = response_as_bytes(HtmlResponse(request.url, request=request))
    item = pack(Asking(value=1))
    asked.clear()
    packed = pack({"value": 1})
    rebuilt = stored.replace(bytes([0xC4, len(packed)]) + packed, bytes([0xC4, len(item)]) + item)
    assert rebuilt != stored
    found = response_from_bytes(rebuilt, "")
    assert found.request is not None
    assert "mine" not in found.request.meta
    assert asked == []


def test_a_store_has_one_name_whatever_link_leads_to_it(path: Path) -> None:
    left_by_a_dead_run(path, 2)
    link = path.with_name("link.sqlite")
    link.symlink_to(path)
    with closing(Store(path, owner="one")) as store:
        assert len(waiting(store)) == 2
        with closing(open_store(link, owner="one", job="")) as other:
            assert waiting(other) == []
        assert store.waiting_count() == 2
    assert not path.with_name("link.sqlite-runs").exists()
