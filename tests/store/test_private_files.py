"""The files of a new store can be read by its user alone; files that exist keep their mode."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from denoise_crawler.store import Store
from denoise_crawler.store.store import ParkedPage, ParkedResponse
from tests.store.test_store import release_all

MARK = "6f1d-a-mark"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def park(store: Store) -> None:
    # the response is packed; the address is stored as it is
    response = ParkedResponse(b"Authorization: Bearer")
    store.park(ParkedPage("a.example", f"https://a.example/{MARK}", "<p>", b"o" * 20, response), b"item")


def test_a_new_store_and_the_files_beside_it_are_for_its_user_alone(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "s.sqlite")) as store:
        park(store)
        assert modes(tmp_path) == {
            "s.sqlite": 0o600,
            "s.sqlite-wal": 0o600,
            "s.sqlite-shm": 0o600,
            "s.sqlite-runs": 0o700,
        }


def test_a_store_that_a_group_shares_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    Store(path).close()
    path.chmod(0o660)
    with closing(Store(path)) as store:
        park(store)
        assert modes(tmp_path) == {
            "s.sqlite": 0o660,
            "s.sqlite-wal": 0o660,
            "s.sqlite-shm": 0o660,
            "s.sqlite-runs": 0o700,
        }


def test_nothing_of_the_headers_stays_in_the_file_when_the_items_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    Store(path).close()
    for number in range(40):  # or the file would be written anew, without the free pages
        with closing(Store(path)) as store:
            store.save_knowledge(f"{number}.example", "method", os.urandom(3_000), lambda parts: parts[-1])
    with closing(Store(path)) as store:
        park(store)
        assert MARK.encode() in path.with_name("s.sqlite-wal").read_bytes()
        release_all(store)
    with closing(Store(path)) as store:
        assert store.waiting_count() == 0
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert b"39.example" in left
    assert MARK.encode() not in left
