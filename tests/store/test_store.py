import os
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.errors import StoreError
from denoise_crawler.store import SiteState, Store
from denoise_crawler.store.store import Parked, ParkedPage, ParkedResponse

KEY = "style_tree:64"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "denoise.sqlite"


@contextmanager
def opened(path: Path, owner: str = "news", job: str = "") -> Iterator[Store]:
    store = Store(path, owner=owner, job=job)
    try:
        yield store
    finally:
        store.close()


def park(store: Store, *names: str, site: str = "a.example") -> None:
    for name in names:
        page = ParkedPage(site, f"https://{site}/{name}", f"<p>{name}</p>", b"origin of " + name.encode())
        store.park(page, name.encode())


def page_with(store: Store, *names: str) -> ParkedPage:
    page = ParkedPage("a.example", f"https://a.example/{names[0]}", "<p>", b"origin of " + names[0].encode())
    for name in names:
        store.park(page, name.encode())
    return page


def waiting(store: Store, site: str | None = None, *, inherited: bool = True) -> Iterator[Parked]:
    """Yield waiting items page by page, as a crawl releases them."""
    for page in store.next_pages(site, inherited=inherited):
        last = -1
        while rows := store.next_items(page, last, inherited=inherited):
            last = rows[-1].id
            yield from rows


def names(store: Store, site: str | None = None, *, inherited: bool = True) -> list[str]:
    return [row.item.decode() for row in waiting(store, site, inherited=inherited)]


def release(store: Store, name: str) -> None:
    [row] = [row for row in waiting(store) if row.item == name.encode()]
    assert store.release([row.id])


def release_all(store: Store) -> None:
    for row in waiting(store):
        assert store.release([row.id])


def rows_in(path: Path) -> int:
    db = sqlite3.connect(path)
    try:
        found: int = db.execute("SELECT count(*) FROM parked").fetchone()[0]
    finally:
        db.close()
    return found


def locks_in(path: Path) -> list[Path]:
    return list(path.parent.glob(f"{path.name}-runs/*"))


def left_by_a_killed_run(path: Path, *parked: str, released: tuple[str, ...] = (), job: str = "") -> None:
    code = (
        "import os, sys\n"
        "from tests.store.test_store import Path, Store, release, park\n"
        "path, job, parked, released = sys.argv[1:]\n"
        "store = Store(Path(path), owner='news', job=job)\n"
        "park(store, *parked.split())\n"
        "for name in released.split():\n"
        "    release(store, name)\n"
        "os._exit(9)\n"
    )
    with run(code, str(path), job, " ".join(parked), " ".join(released)) as ended:
        assert ended.wait(30) == 9


def run(code: str, *arguments: str) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


# --- waiting


def test_rows_parked_while_others_of_their_page_come_back_come_too(path: Path) -> None:
    with opened(path) as store:
        page = page_with(store, "first")
        seen = []
        for row in waiting(store, "a.example"):
            seen.append(row.item.decode())
            store.release([row.id])
            if len(seen) < 4:
                store.park(page, b"after " + row.item)
        assert seen == ["first", "after first", "after after first", "after after after first"]


def test_rows_released_do_not_come_again_but_stay_in_the_file_until_the_store_closes(path: Path) -> None:
    with opened(path) as store:
        park(store, "one", "two", "three")
        release(store, "two")
        assert names(store) == ["one", "three"]
        assert store.waiting_count() == 2
        assert rows_in(path) == 3
    assert rows_in(path) == 2


def test_a_run_that_leaves_nothing_leaves_no_trace(path: Path) -> None:
    with opened(path) as store:
        park(store, "one")
        assert locks_in(path)
        release(store, "one")
    assert rows_in(path) == 0
    assert locks_in(path) == []
    with opened(path) as store:
        assert store.inherit() == 0


@given(st.tuples(st.text(), st.text(), st.text()), st.binary(), st.binary(), st.binary())
def test_what_is_parked_comes_back_as_it_was(
    texts: tuple[str, str, str], item: bytes, origin: bytes, response: bytes
) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "denoise.sqlite") as store:
        store.park(ParkedPage(*texts, origin, ParkedResponse(response)), item)
        [row] = waiting(store, texts[0])
        page = store.page(row.page)
        assert page.response is not None
        assert (row.site, row.item) == (texts[0], item)
        assert (page.site, page.url, page.html, page.origin, page.response.data) == (*texts, origin, response)


def test_lone_surrogates_in_a_page_and_its_address_do_not_keep_it_from_waiting(path: Path) -> None:
    with opened(path) as store:
        store.park(ParkedPage("a.example", "https://a.example/\ud800", "<p>\udfff</p>", b""), b"")
        [row] = waiting(store)
        page = store.page(row.page)
        assert (page.url, page.html) == ("https://a.example/\ufffd", "<p>?</p>")


# --- runs that are no more


def test_rows_of_a_killed_run_wait_in_the_next_run_of_its_spider_also_those_released(path: Path) -> None:
    left_by_a_killed_run(path, "one", "two", "three", released=("two",))
    with opened(path) as store:
        assert names(store) == []
        assert store.inherit() == 3
        assert names(store) == ["one", "two", "three"]
        park(store, "four")
        assert names(store) == ["one", "two", "three", "four"]
        assert names(store, inherited=False) == ["four"]
        assert (store.waiting_count(), store.waiting_count(inherited=False)) == (4, 1)
        assert store.inherit() == 0


def test_rows_left_waiting_go_to_the_next_run_and_from_it_to_the_one_after(path: Path) -> None:
    with opened(path) as store:
        park(store, "one", "two")
    with opened(path) as store:
        assert store.inherit() == 2
        release(store, "one")
    with opened(path) as store:
        assert store.inherit() == 1
        assert names(store) == ["two"]


def test_rows_do_not_go_to_another_spider(path: Path) -> None:
    left_by_a_killed_run(path, "one")
    with opened(path, owner="shops") as other:
        assert other.inherit() == 0
        assert names(other) == []
    with opened(path) as store:
        assert store.inherit() == 1


def test_rows_of_a_live_run_are_not_taken_from_another_process_until_it_is_killed(path: Path) -> None:
    code = (
        "import sys\n"
        "from tests.store.test_store import Path, Store, park\n"
        "store = Store(Path(sys.argv[1]), owner='news')\n"
        "park(store, 'one')\n"
        "print('parked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with run(code, str(path)) as alive, opened(path) as other:
        assert alive.stdout is not None
        assert alive.stdout.readline() == "parked\n"
        assert other.inherit() == 0
        alive.kill()
        alive.wait()
        assert other.inherit() == 1
        assert names(other) == ["one"]


def test_rows_are_found_although_somebody_removed_the_lock_files(path: Path) -> None:
    left_by_a_killed_run(path, "one")
    for lock in locks_in(path):
        lock.unlink()
    (path.parent / f"{path.name}-runs").rmdir()
    with opened(path) as store:
        assert store.inherit() == 1


def test_rows_of_a_paused_job_wait_for_that_job_as_long_as_its_folder_is_there(path: Path, tmp_path: Path) -> None:
    job = tmp_path / "job"
    job.mkdir()
    with opened(path, job=str(job)) as paused:
        park(paused, "one")
    for stranger in ("", str(tmp_path / "another job")):
        with opened(path, job=stranger) as store:
            assert store.inherit() == 0
    with opened(path, job=str(job)) as resumed:
        assert resumed.inherit() == 1
        assert names(resumed) == ["one"]


def test_rows_of_a_paused_job_go_to_any_run_of_the_spider_once_its_folder_is_gone(
    path: Path, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    job.mkdir()
    left_by_a_killed_run(path, "one", job=str(job))
    with opened(path) as store:
        assert store.inherit() == 0
        job.rmdir()
        assert store.inherit() == 1
    with opened(path, owner="shops") as other:
        assert other.inherit() == 0


def test_a_page_that_comes_again_drops_its_inherited_rows_that_wait_and_no_others(path: Path) -> None:
    with opened(path) as first:
        park(first, "one", "two", "three")
        first.park(ParkedPage("a.example", "", "", b"origin of one"), b"one more")
    with opened(path) as store:
        assert store.supersede(b"origin of one") == 0
        store.inherit()
        park(store, "one")
        release(store, "two")
        assert store.supersede(b"origin of one") == 2
        assert store.supersede(b"origin of two") == 0
        assert names(store) == ["three", "one"]
        assert store.supersede(b"origin of one") == 0
        assert rows_in(path) == 3


# --- what is known of sites


def union(parts: list[bytes]) -> bytes:
    return encoded(set().union(*map(decoded, parts)))


def encoded(numbers: set[int]) -> bytes:
    return b" ".join(str(number).encode() for number in sorted(numbers))


def decoded(data: bytes) -> set[int]:
    return {int(number) for number in data.split()}


def test_knowledge_and_state_outlast_the_run_each_method_for_itself(path: Path) -> None:
    with opened(path) as store:
        store.save_state("a.example", KEY, SiteState(20, ready=True))
        store.save_knowledge("a.example", KEY, b"1 2", union)
        store.save_knowledge("b.example", KEY, b"7", union)
    with opened(path, owner="shops") as store:
        assert store.site("a.example", KEY) == SiteState(20, ready=True)
        assert store.knowledge("a.example", KEY) == [b"1 2"]
        assert store.site("a.example", "style_tree:32") == SiteState()
        assert store.knowledge("a.example", "style_tree:32") == []
        assert store.site("b.example", KEY) == SiteState()
        assert store.knowledge("b.example", KEY) == [b"7"]


def test_what_is_written_together_is_there_for_others_when_all_of_it_is(path: Path) -> None:
    with closing(Store(path)) as store, closing(Store(path)) as other:
        with store.together():
            store.save_knowledge("a.example", KEY, b"1 2", union)
            with suppress(ZeroDivisionError), store.together():
                store.save_knowledge("b.example", KEY, b"7", union)
                raise ZeroDivisionError
            store.save_knowledge("c.example", KEY, b"8", union)
            assert other.knowledge("a.example", KEY) == []
        known = [other.knowledge(site, KEY) for site in ("a.example", "b.example", "c.example")]
        assert known == [[b"1 2"], [], [b"8"]]


def test_knowledge_is_merged_with_what_others_saved_meanwhile(path: Path) -> None:
    with opened(path) as one, opened(path) as two:
        one.save_knowledge("a.example", KEY, b"1 2", union)
        two.save_knowledge("a.example", KEY, b"2 3", union)
        assert one.knowledge("a.example", KEY) == [b"1 2 3"]


def test_a_merge_that_fails_leaves_what_was_known_and_a_store_that_works(path: Path) -> None:
    def fails(_: list[bytes]) -> bytes:
        raise ZeroDivisionError

    with opened(path) as store:
        store.save_knowledge("a.example", KEY, b"1", union)
        with pytest.raises(ZeroDivisionError):
            store.save_knowledge("a.example", KEY, b"2", fails)
        assert store.knowledge("a.example", KEY) == [b"1"]
        park(store, "one")
        assert names(store) == ["one"]


@given(st.lists(st.builds(SiteState, st.integers(0, 99), st.booleans()), max_size=6))
def test_a_state_never_goes_back(states: list[SiteState]) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "denoise.sqlite") as store:
        furthest = SiteState()
        for state in states:
            store.save_state("a.example", KEY, state)
            furthest = SiteState(max(furthest.pages_seen, state.pages_seen), furthest.ready or state.ready)
            assert store.site("a.example", KEY) == furthest


def test_two_processes_that_write_at_the_same_time_lose_nothing(path: Path) -> None:
    code = (
        "import sys\n"
        "from tests.store.test_store import KEY, Path, SiteState, encoded, opened, park, union\n"
        "path, name = sys.argv[1:]\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "with opened(Path(path), owner=name) as store:\n"
        "    for number in range(200):\n"
        "        park(store, f'{name}{number}')\n"
        "        if number % 5 == 0:\n"
        "            mine = encoded({number + 1000 * (name == 'b')})\n"
        "            store.save_knowledge('a.example', KEY, mine, union)\n"
        "            store.save_state('a.example', KEY, SiteState(number))\n"
    )
    with run(code, str(path), "a") as one, run(code, str(path), "b") as two:
        for process in (one, two):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in (one, two):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert (one.wait(60), two.wait(60)) == (0, 0)
    for name in ("a", "b"):
        with opened(path, owner=name) as store:
            assert store.inherit() == 200
            assert names(store) == [f"{name}{number}" for number in range(200)]
            tens = set(range(0, 200, 5))
            assert decoded(store.knowledge("a.example", KEY)[0]) == tens | {1000 + ten for ten in tens}
            assert store.site("a.example", KEY) == SiteState(195)


# --- the file


def refused(path: Path) -> str:
    with pytest.raises(StoreError) as error:
        Store(path)
    assert str(path) in str(error.value)
    assert "DENOISE_STORE" in str(error.value)
    return str(error.value)


def test_folders_on_the_way_to_the_file_are_made(tmp_path: Path) -> None:
    with opened(tmp_path / "new" / "folder" / "denoise.sqlite"):
        assert (tmp_path / "new" / "folder" / "denoise.sqlite").is_file()


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE cookies (name TEXT)")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.write_text("a diary, " * 1000), "not a database"),
        (foreign, "the database of another program"),
        (Path.mkdir, ""),
    ],
)
def test_what_is_no_store_is_refused_and_left_as_it_is(
    path: Path, make: Callable[[Path], object], why: str
) -> None:
    make(path)
    before = path.is_file() and path.read_bytes()
    assert why in refused(path)
    assert before == (path.is_file() and path.read_bytes())


def test_items_of_a_page_come_back_in_order_each_with_a_number(path: Path) -> None:
    with opened(path) as store:
        park(store, "before")
        page = page_with(store, "0", "1", "2", "3")
        park(store, "after")
        found = list(waiting(store))
        assert [row.item for row in found] == [b"before", b"0", b"1", b"2", b"3", b"after"]
        assert len({row.id for row in found}) == 6
        assert {row.page for row in found[1:5]} == {page.row}
        assert store.waiting_count() == store.waiting_count("a.example") == 6
    assert rows_in(path) == 6


def test_items_that_were_released_do_not_come_again_and_those_that_wait_again_do(path: Path) -> None:
    with opened(path) as store:
        page_with(store, *"abcdef")
        rows = [row.id for row in waiting(store)]
        assert store.release(rows[:4]) == 4
        assert names(store) == ["e", "f"]
        assert store.release(rows[2:4], released=False) == 2
        assert names(store) == ["c", "d", "e", "f"]


def test_a_page_of_large_items_is_read_some_at_a_time(path: Path) -> None:
    with opened(path) as store:
        page = page_with(store, "first")
        for number in range(4):
            store.park(page, bytes([number]) * 600_000)
        [of_page] = store.next_pages()
        assert len(store.next_items(of_page)) == 3
        assert [row.item[:1] for row in waiting(store)] == [b"f", b"\0", b"\1", b"\2", b"\3"]


def test_an_item_that_unpacks_to_gigabytes_stays_packed_and_the_others_come(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("denoise_crawler.methods.stored_bytes.MAX_BYTES", 1_000_000)
    left_by_a_killed_run(path, "one", "two")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE parked SET item = ? WHERE id = 1", [zlib.compress(bytes(1_000_001))])
    with opened(path) as store:
        store.inherit()
        assert names(store) == ["two"]


def test_a_file_in_the_place_of_a_folder_is_refused(path: Path) -> None:
    path.write_text("")
    refused(path / "denoise.sqlite")


def test_a_run_that_cannot_show_that_it_is_alive_is_refused(path: Path) -> None:
    path.with_name(path.name + "-runs").write_text("in the way")
    with opened(path) as store:
        with pytest.raises(StoreError, match="DENOISE_STORE"):
            park(store, "one")
        assert store.waiting_count() == 0


def test_a_store_on_a_full_disk_says_so_keeps_what_it_has_and_goes_on_when_there_is_room(path: Path) -> None:
    resource = pytest.importorskip("resource")
    noise = os.urandom(400_000)
    with opened(path) as store:
        park(store, "one")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
        try:
            for _ in range(2):
                with pytest.raises(sqlite3.Error):
                    store.park(ParkedPage("a.example", "", "", b""), noise)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        store.park(ParkedPage("a.example", "", "", b""), noise)
        assert [row.item for row in waiting(store)] == [b"one", noise]


# --- read only


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE notes (text)")


def without_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (Path.touch, "it is empty"),
        (lambda path: path.write_bytes(b"junk" * 1000), "file is not a database"),
        (foreign, "it is the database of another program"),
        (without_tables, "its tables are not those of a store"),
    ],
)
def test_what_is_no_store_is_named_and_stays_as_it_is(
    path: Path, make: Callable[[Path], object], why: str
) -> None:
    make(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(StoreError, match=f"cannot be read as a store: {why}"):
        Store(path, read_only=True)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_store_that_a_crawl_writes_at_this_moment_is_read_as_it_is_now(path: Path) -> None:
    with closing(Store(path)) as writing:
        writing.save_state("new.example", KEY, SiteState(3))
        with closing(Store(path, read_only=True)) as reading:
            assert set(reading.sites()) == {"new.example"}
        writing.save_state("new.example", KEY, SiteState(4))
