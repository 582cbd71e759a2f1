"""A store whose file is damaged, of another release, or on a full disk; whole crawls are in ``tests/faults``."""

import logging
import os
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from denoise_crawler.errors import DamagedRowError
from denoise_crawler.store import VERSION, Store, open_store
from denoise_crawler.store.store import ParkedPage
from tests.scrapy_process import denoise
from tests.store.test_store import release_all
from tests.store.test_store import waiting as all_waiting

PAGES = 40


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


def run_sql(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)


def waiting(store: Store) -> list[bytes]:
    store.inherit()
    return [parked.item for parked in all_waiting(store)]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_store_that_was_cut_is_moved_aside_and_what_can_be_read_waits_in_a_new_one(
    path: Path, share: float, caplog: pytest.LogCaptureFixture
) -> None:
    left_by_a_dead_run(path)
    whole = path.read_bytes()
    os.truncate(path, int(len(whole) * share))
    with caplog.at_level(logging.ERROR), closing(open_store(path, owner="one", job="")) as store:
        items = waiting(store)
        assert items == [b"item %d" % number for number in range(len(items))]
        assert len(items) < PAGES
    (record,) = caplog.records
    aside = path.with_name("denoise.sqlite.damaged-1")
    assert f"the store {path} cannot be used: " in record.message
    assert (
        f"The file was moved to {aside}, and sites are learned anew. {len(items)} waiting items" in record.message
    )
    assert aside.read_bytes() == whole[: int(len(whole) * share)]


def damage_table_of_sites(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        [root] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'site'").fetchone()
    body = bytearray(path.read_bytes())
    body[4096 * (root - 1) : 4096 * root] = b"\xff" * 4096
    path.write_bytes(body)


def test_a_command_that_reads_a_damaged_store_names_it_and_what_to_do(path: Path) -> None:
    left_by_a_dead_run(path)
    damage_table_of_sites(path)
    page = path.with_name("page.html")
    page.write_text("<p>A story</p>")
    for code, *command in ((1, "explain", page, "--store", path), (2, "report", path, "-o", "report")):
        told = denoise(path.parent, *command, code=code).stderr
        assert f"{path} cannot be read as a store: database disk image is malformed. Move it away or name" in told


def test_all_waiting_items_of_a_store_with_a_damaged_table_of_sites_come(path: Path) -> None:
    left_by_a_dead_run(path)
    damage_table_of_sites(path)
    with closing(open_store(path, owner="one", job="")) as store:
        assert waiting(store) == [b"item %d" % number for number in range(PAGES)]
        assert [site.known_by for site in store.sites().values()] == [[]]


def test_stores_moved_aside_do_not_overwrite_each_other(path: Path) -> None:
    for _ in range(3):
        left_by_a_dead_run(path)
        os.truncate(path, path.stat().st_size // 2)
        open_store(path, owner="one", job="").close()
    assert len(list(path.parent.glob("denoise.sqlite.damaged-[123]"))) == 3


def test_a_store_of_another_release_is_moved_aside_and_its_items_wait_in_a_new_one(path: Path) -> None:
    left_by_a_dead_run(path)
    run_sql(path, f"PRAGMA user_version = {VERSION + 1}; ALTER TABLE site ADD COLUMN more")
    with closing(open_store(path, owner="one", job="")) as store:
        assert len(waiting(store)) == PAGES
        assert store.knowledge("a.example", "fusion") == []
    assert path.with_name("denoise.sqlite.damaged-1").is_file()


def test_items_of_another_release_that_cannot_be_read_stay_in_the_file_that_was_moved_aside(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    left_by_a_dead_run(path)
    run_sql(path, f"PRAGMA user_version = {VERSION + 1}; ALTER TABLE parked RENAME COLUMN item TO thing")
    with caplog.at_level(logging.ERROR), closing(open_store(path, owner="one", job="")) as store:
        assert waiting(store) == []
    assert "0 waiting items could be read" in caplog.text
    with closing(sqlite3.connect(path.with_name("denoise.sqlite.damaged-1"))) as db:
        assert db.execute("SELECT count(*) FROM parked").fetchone() == (PAGES,)


def test_items_of_a_run_that_lives_are_released_by_it_alone(path: Path) -> None:
    left_by_a_dead_run(path, 2)
    live = Store(path, owner="one")
    live.park(ParkedPage("a.example", "/live", "<p>", b"live"), b"live")
    run_sql(path, f"PRAGMA user_version = {VERSION + 1}")
    store = open_store(path, owner="one", job="")
    live.close()
    with closing(store):
        assert waiting(store) == [b"item 0", b"item 1"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_items_of_a_damaged_store_that_others_can_write_are_not_copied(path: Path) -> None:
    left_by_a_dead_run(path, 2)
    run_sql(path, f"PRAGMA user_version = {VERSION + 1}")
    path.chmod(0o660)
    with closing(open_store(path, owner="one", job="")) as store:
        assert waiting(store) == []


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
        db.execute("UPDATE parked SET item = ? WHERE id = 3", (b"no zlib",))
        db.commit()
    with closing(Store(path, owner="one")) as store:
        assert waiting(store) == [b"item 0", b"item 1"]
        assert store.waiting_count() == 3
        store.page(2)
        with pytest.raises(DamagedRowError, match="/0"):
            store.page(1)


def test_items_of_a_run_whose_feed_failed_wait_again(path: Path) -> None:
    left_by_a_dead_run(path, 2)
    store = Store(path, owner="one")
    store.inherit()
    release_all(store)
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
    for parked in list(all_waiting(store))[:3]:
        store.release([parked.id])
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
