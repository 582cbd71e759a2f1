import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fsspec", reason="fsspec is not installed")

from collections.abc import Iterable

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

from denoise_crawler.errors import SharedStoreError
from denoise_crawler.methods import Method, MethodChoice
from denoise_crawler.page import Page
from denoise_crawler.store.knowledge import SUFFIX, SharedStore, StoredKnowledge
from tests.faults.shared_files import FILES, KNOWLEDGE, record

FEW = 8
SITE = "https://a.example:8080/odd name"


def page(number: int, words: str = "") -> Page:
    return Page.parse(f"https://a.example/{number}", f"<div><a href=/>Home</a><p>Story {number} {words}</p></div>")


PAGES = [page(number) for number in range(30)]


CHOICE = MethodChoice("fusion", {"max_pages": FEW})
MANY = MethodChoice("fusion", {"max_pages": 1000})


def merged(parts: Iterable[bytes], choice: MethodChoice = CHOICE) -> Method:
    return choice.knowing(parts, SITE)


def of(store: SharedStore) -> StoredKnowledge:
    """Return the knowledge as another crawl sees it."""
    return StoredKnowledge(store, CHOICE)


def learned(pages: Iterable[Page]) -> bytes:
    method = CHOICE.new()
    for one in pages:
        method.observe(one)
    return method.to_bytes()


def files(folder: Path) -> list[Path]:
    return list(folder.rglob(f"*{SUFFIX}"))


PARTS = st.lists(st.lists(st.integers(0, 29), max_size=12), min_size=1, max_size=6)


@settings(max_examples=25)
@given(PARTS)
def test_what_is_put_by_turns_is_what_one_would_have_learned(parts: list[list[int]]) -> None:
    import uuid

    store = SharedStore(f"memory://{uuid.uuid4().hex}")
    for part in parts:
        of(store).put(SITE, learned(PAGES[number] for number in part))
    assert of(store).get(SITE) == learned(PAGES[number] for part in parts for number in part)


PUTTING = """
import sys
from tests.store.test_shared_store import MANY, PAGES, SITE, SharedStore, StoredKnowledge, learned
store = SharedStore(sys.argv[1])
sys.stdin.read()
for number in range(int(sys.argv[2]), 30, 3):
    StoredKnowledge(store, MANY).put(SITE, learned(PAGES[number : number + 1]))
"""


def test_processes_that_put_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PUTTING, str(tmp_path), str(number)],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
        )
        for number in range(3)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(60) for process in started] == [0, 0, 0]
    assert merged(SharedStore(str(tmp_path)).knowledge(SITE, "fusion"), MANY).pages_known == 30


def test_a_site_ends_in_one_file_and_one_that_is_damaged_is_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = SharedStore(str(tmp_path))
    for number in range(5):
        of(store).put(SITE, learned(PAGES[number : number + 1]))
    [only] = files(tmp_path)
    assert of(store).get(SITE) == learned(PAGES[:5])
    only.with_name("0" * 64 + SUFFIX).write_bytes(only.read_bytes()[:100])
    only.with_name("left-by-a-killed-crawl.tmp").write_bytes(b"half")
    assert of(store).get(SITE) == learned(PAGES[:5])
    assert "is damaged and skipped" in caplog.text


def test_a_site_nobody_knows_has_nothing_and_a_folder_out_of_reach_is_named(tmp_path: Path) -> None:
    assert of(SharedStore(str(tmp_path))).get(SITE) is None
    (tmp_path / "file").write_text("")
    with pytest.raises(SharedStoreError, match="file/store cannot be used"):
        SharedStore(str(tmp_path / "file" / "store"))
    with pytest.raises(SharedStoreError, match="nonsense"):
        SharedStore("nonsense://bucket")


def test_a_folder_that_goes_away_costs_no_crawl_its_pages(tmp_path: Path) -> None:
    told: list[Exception] = []
    folder = tmp_path / "shared"
    known = StoredKnowledge(SharedStore(str(folder)), CHOICE, on_error=told.append)
    known.put(SITE, learned(PAGES[:3]))
    folder.rename(tmp_path / "away")
    folder.write_text("something else")
    known.put(SITE, learned(PAGES[:4]))
    assert known.get(SITE) is None
    assert len(told) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs the files of POSIX")
@pytest.mark.parametrize("name", [*FILES, *KNOWLEDGE])
def test_a_file_that_is_none_of_ours_is_passed_over_with_one_warning_and_nothing_is_lost(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Exception] = []
    store = SharedStore(str(tmp_path))
    known = StoredKnowledge(store, CHOICE, on_error=told.append)
    known.put(SITE, learned(PAGES[:3]))
    [own] = files(tmp_path)
    if name in FILES:
        FILES[name](own.parent)
        own.chmod(0o644)
    else:
        record(SITE, "fusion", KNOWLEDGE[name])(own.parent)
    for _ in range(2):
        assert merged([known.get(SITE) or b""]).to_bytes() == learned(PAGES[:3])
    known.put(SITE, learned(PAGES[:6]))
    assert known.get(SITE) == learned(PAGES[:6])
    assert told == []
    if name in FILES and (name != "a file that may not be read" or os.geteuid()):
        assert caplog.text.count("is damaged and skipped") == 1


class Failing(MemoryFileSystem):
    """A place whose errors are of a kind of its own, as those of cloud storages are."""

    protocol = "failing"
    cachable = False

    def ls(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("the bucket\x1b[2J is closed")


def test_errors_of_any_kind_that_a_place_has_cost_no_crawl_its_pages() -> None:
    fsspec.register_implementation("failing", Failing, clobber=True)
    told: list[Exception] = []
    known = StoredKnowledge(SharedStore("failing://bucket/known"), CHOICE, on_error=told.append)
    known.put(SITE, learned(PAGES[:3]))
    assert known.get(SITE) is None
    assert [type(error) for error in told] == [SharedStoreError] * 2
    assert "failing://bucket/known cannot be read or written: the bucket\ufffd[2J is closed" in str(told[0])
