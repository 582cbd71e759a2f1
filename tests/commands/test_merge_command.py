from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from denoise_crawler.demo.replies import article_path, articles
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.page import Page
from denoise_crawler.store import SiteRun, SiteState, Store
from tests.article_spider import SPIDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.demo.server import DemoServer
    from tests.conftest import Project

KEY = Fusion.name
KNOWN = SiteState(Fusion.warmup_pages, ready=True)
STORE = "DENOISE_STORE"


def merge(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", "denoise", "merge", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


def learned(numbers: range, site: str = "a.example") -> bytes:
    method = Fusion()
    for number in numbers:
        method.observe(Page.parse(f"https://{site}/{number}", f"<p>Story {number}"))
    return method.to_bytes()


def store(path: Path, **sites: bytes) -> Path:
    with closing(Store(path)) as opened:
        for site, knowledge in sites.items():
            opened.save_knowledge(site, KEY, knowledge, lambda parts: parts[-1])
            opened.save_state(site, KEY, SiteState(1))
    return path


def known(path: Path) -> dict[str, tuple[bytes, SiteState]]:
    with closing(Store(path)) as opened:
        return {site: (opened.knowledge(site, key)[0], opened.site(site, key)) for site, key in opened.known()}


def seen(path: Path) -> list[SiteRun]:
    """Return what each run saw of the only site in a store."""
    with closing(Store(path, read_only=True)) as opened:
        [(site, key)] = opened.known()
        return opened.history(site, key)


def urls(server: DemoServer) -> list[str]:
    return [server.url + article_path(article) for article in articles() if article.lang == "en"][:24]


def crawl(project: Project, store: str, pages: list[str]) -> None:
    project.write("urls.json", json.dumps(pages))
    items = project.crawl("html", "-s", f"{STORE}={store}", feed=f"{store}.jsonl")
    assert len(items) == len(pages), project.log


def test_two_crawls_of_halves_of_a_site_merged_equal_one_of_the_whole_and_warm_the_next(
    project: Project, server: DemoServer
) -> None:
    project.write("test_spiders.py", SPIDER)
    pages = urls(server)
    for name, part in (("a", pages[:12]), ("b", pages[12:]), ("whole", pages)):
        crawl(project, f"{name}.sqlite", part)
    folder = project.folder
    ran = merge("a.sqlite", "b.sqlite", "-o", "both.sqlite", cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "both.sqlite: 1 sites from 2 stores" in ran.stdout
    assert known(folder / "both.sqlite") == known(folder / "whole.sqlite")
    assert [run.pages for run in seen(folder / "both.sqlite")] == [12, 12]
    [whole] = seen(folder / "whole.sqlite")
    assert (whole.pages, whole.compared) == (24, 24 - Fusion.warmup_pages)
    assert 0 < whole.kept < whole.visible
    assert whole.template > 5
    crawl(project, "both.sqlite", pages)
    assert "denoise/parked" not in project.stats


def test_stores_go_into_a_shared_folder_and_out_of_it_again(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    store(tmp_path / "a.sqlite", **{"a.example": learned(range(30)), "b.example": learned(range(3), "b.example")})
    store(tmp_path / "b.sqlite", **{"a.example": learned(range(20, 200))})
    assert merge("a.sqlite", "b.sqlite", "-o", "shared/", cwd=tmp_path).returncode == 0
    assert merge("shared", "a.sqlite", "-o", "out.sqlite", cwd=tmp_path).returncode == 0
    assert known(tmp_path / "out.sqlite") == {
        "a.example": (learned(range(200)), KNOWN),
        "b.example": (learned(range(3), "b.example"), SiteState(3)),
    }


def test_trees_of_spark_make_a_store(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    rows = [
        {"site": "a.example", "method": KEY, "pages": 40, "knowledge": learned(range(40))},
        {"site": "c.example", "method": KEY, "pages": 1, "knowledge": None},
    ]
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "_SUCCESS").write_text("")
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "trees" / "part-0.parquet")
    assert merge("trees", "-o", "out.sqlite", cwd=tmp_path).returncode == 0
    assert known(tmp_path / "out.sqlite") == {"a.example": (learned(range(40)), KNOWN)}


def test_what_cannot_be_merged_is_named(tmp_path: Path) -> None:
    ran = merge("nowhere.sqlite", "-o", "out.sqlite", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (1, "nowhere.sqlite is not there\n")
    (tmp_path / "junk.sqlite").write_bytes(b"junk" * 1000)
    ran = merge("junk.sqlite", "-o", "out.sqlite", cwd=tmp_path)
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1
    with closing(Store(tmp_path / "odd.sqlite")) as opened:
        opened.save_knowledge("a.example", "feature_tree:7", b"x", lambda parts: parts[-1])
        opened.save_knowledge("b.example", KEY, b"x", lambda parts: parts[-1])
    ran = merge("odd.sqlite", "-o", "out.sqlite", cwd=tmp_path)
    assert ran.returncode == 1
    assert "left out: 1 sites of feature_tree:7; name that method" in ran.stderr
    assert "left out: what is known of b.example cannot be read: " in ran.stderr
    assert known(tmp_path / "out.sqlite") == {}


def beside(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE notes (text)")
        db.commit()


def sqlite_without_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (Path.touch, "it is empty"),
        (lambda path: path.write_bytes(b"junk" * 1000), "file is not a database"),
        (foreign, "it is the database of another program"),
        (sqlite_without_tables, "its tables are not those of a store"),
    ],
)
def test_an_input_that_is_no_store_is_named_and_stays_as_it_is(
    tmp_path: Path, make: Callable[[Path], object], why: str
) -> None:
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    make(inputs / "a.sqlite")
    before = beside(inputs)
    ran = merge(inputs / "a.sqlite", "-o", "out.sqlite", cwd=tmp_path)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"{inputs / 'a.sqlite'} cannot be read as a store: {why}")
    assert ran.stderr.count("\n") == 1
    assert beside(inputs) == before


def test_stores_that_are_merged_stay_as_they_are(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    for name in ("a", "b"):
        store(inputs / f"{name}.sqlite", **{f"{name}.example": learned(range(3))})
    before = beside(inputs)
    assert sorted(before) == ["a.sqlite", "b.sqlite"]
    assert merge(*sorted(inputs.iterdir()), "-o", "out.sqlite", cwd=tmp_path).returncode == 0
    assert beside(inputs) == before
    assert len(known(tmp_path / "out.sqlite")) == 2


def test_a_store_that_a_crawl_writes_at_this_moment_is_read_as_it_is_now(tmp_path: Path) -> None:
    path = store(tmp_path / "a.sqlite", **{"a.example": learned(range(3))})
    with closing(Store(path)) as writing:
        writing.save_knowledge("new.example", KEY, learned(range(3), "new.example"), lambda parts: parts[-1])
        assert merge(path, "-o", "out.sqlite", cwd=tmp_path).returncode == 0
        writing.save_state("new.example", KEY, SiteState(3))
    assert set(known(tmp_path / "out.sqlite")) == {"a.example", "new.example"}


def test_a_merge_that_fails_leaves_no_output_and_one_that_overwrites_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "empty.sqlite").touch()
    good = store(tmp_path / "good.sqlite", **{"a.example": learned(range(2))})
    before = sorted(tmp_path.iterdir())
    for first, *output in (["good", "-o", "new"], ["good", "-O", "new"], ["empty", "-o", "shared/"]):
        ran = merge(f"{first}.sqlite", "empty.sqlite", *output, cwd=tmp_path)
        assert (ran.returncode, "it is empty" in ran.stderr) == (1, True)
        assert sorted(tmp_path.iterdir()) == before
    old = store(tmp_path / "old.sqlite", **{"b.example": learned(range(3), "b.example")})
    assert merge("empty.sqlite", "-O", "old.sqlite", cwd=tmp_path).returncode == 1
    assert set(known(old)) == {"b.example"}
    assert merge("good.sqlite", "-O", "old.sqlite", cwd=tmp_path).returncode == 0
    assert set(known(old)) == {"a.example"}
    assert merge("old.sqlite", "-o", "good.sqlite", cwd=tmp_path).returncode == 0
    assert known(good) == known(old)


def test_a_store_that_a_crawl_has_open_and_a_shared_folder_are_not_overwritten(tmp_path: Path) -> None:
    good = store(tmp_path / "good.sqlite", **{"a.example": learned(range(2))})
    (tmp_path / "shared").mkdir()
    with closing(Store(tmp_path / "open.sqlite")) as opened:
        opened.save_state("b.example", KEY, SiteState(1))
        ran = merge(good, "-O", "open.sqlite", cwd=tmp_path)
        assert "open.sqlite is open in a crawl, or one was killed: -O does not overwrite it" in ran.stderr
    assert "-O overwrites a file, -o adds to the folder" in merge(good, "-O", "shared", cwd=tmp_path).stderr
    assert not list((tmp_path / "shared").iterdir())
