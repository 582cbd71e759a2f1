"""Stores that others made, some to do harm: each changes a store in which items wait, or is put in its place.

Each returns whether the crawl must be refused; if not, all items but that of the first page must come out.
"""

import os
import shutil
import sqlite3
import struct
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np

from denoise_crawler.demo.server import DemoServer
from tests.faults.crawls import Crawls, Outcome

VICTIM = b"a file of somebody else " * 1_000
MAGIC_OF_JOURNALS = bytes.fromhex("d9d505f920a163d7")


def _sql(script: str, *, refused: bool) -> Callable[[Path], bool]:
    def make(store: Path) -> bool:
        with closing(sqlite3.connect(store)) as db:
            db.executescript(script)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return refused

    return make


def _first_row(column: str, value: bytes | Callable[[], bytes]) -> Callable[[Path], bool]:
    """Put ``value``, packed, in the place of the first row of items, of its page's HTML or of its response."""
    table = {"items": "parked", "html": "page", "data": "response"}[column]

    def make(store: Path) -> bool:
        with closing(sqlite3.connect(store)) as db, db:
            data = zlib.compress(value if isinstance(value, bytes) else value())
            db.execute(f"UPDATE {table} SET {column} = ? WHERE id = (SELECT min(id) FROM {table})", [data])  # noqa: S608
        return False

    return make


def _first_item(value: bytes | Callable[[], bytes]) -> Callable[[Path], bool]:
    """Put ``value`` in the place of the only item of the first row."""
    return _first_row("items", lambda: msgspec.msgpack.encode([value if isinstance(value, bytes) else value()]))


def _knowledge(value: Callable[[], bytes]) -> Callable[[Path], bool]:
    def make(store: Path) -> bool:
        with closing(sqlite3.connect(store)) as db, db:
            db.execute("DELETE FROM site")
            db.execute(
                "INSERT INTO site (name, method, knowledge) SELECT DISTINCT site, 'fusion', ? FROM page", [value()]
            )
        return False

    return make


def _damaged(make: Callable[[Path], bool], *, refused: bool) -> Callable[[Path], bool]:
    """Also overwrite the last two pages of the file."""

    def damage(store: Path) -> bool:
        make(store)
        body = bytearray(store.read_bytes())
        body[-8192:] = bytes(reversed(range(256))) * 32
        store.write_bytes(body)
        return refused

    return damage


def _beside(ending: str) -> Callable[[Path], bool]:
    """Put a link to somebody else's file in the place of one that SQLite keeps beside the store."""

    def make(store: Path) -> bool:
        place = store.with_name(store.name + ending)
        place.unlink(missing_ok=True)
        place.symlink_to(victim(store))
        return True

    return make


def _journal(store: Path) -> bool:
    """Leave a journal that names somebody else's file: SQLite deletes it when it rolls back."""
    with closing(sqlite3.connect(store)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        size = db.execute("PRAGMA page_size").fetchone()[0]
    name = os.fsencode(victim(store))
    head = MAGIC_OF_JOURNALS + struct.pack(">5I", 0, 0, store.stat().st_size // size, 512, size)
    tail = struct.pack(">I", 0x40000000 // size + 1) + name
    tail += struct.pack(">II", len(name), sum(name)) + MAGIC_OF_JOURNALS
    store.with_name(store.name + "-journal").write_bytes(head.ljust(512, b"\0") + tail)
    return True


def _instead(make: Callable[[Path], object]) -> Callable[[Path], bool]:
    def replace(store: Path) -> bool:
        store.unlink()
        make(store)
        return True

    return replace


def _lock_of_a_link(store: Path) -> bool:
    folder = store.with_name(store.name + "-runs")
    for lock in folder.glob("*.lock"):
        lock.unlink()
        lock.symlink_to(victim(store))
    return False


def victim(store: Path) -> Path:
    """Return somebody else's file, which no attack may touch."""
    return store.parent.parent / "elsewhere" / "victim"


def numbers(values: Any) -> bytes:
    """Return numbers as trees and sketches have them."""
    return np.asarray(values).astype("<u4").tobytes()


def item(tag: str, value: Any) -> bytes:
    """Return the bytes of an item as the store has them."""
    return msgspec.msgpack.encode([msgspec.msgpack.encode({tag: value})])


def response(**changes: Any) -> bytes:
    """Return the bytes of a response, some of its parts changed."""
    parts = {
        "kind": "HtmlResponse",
        "url": "http://127.0.0.1/",
        "status": 200,
        "headers": [],
        "body": b"<p>body",
        "encoding": "utf-8",
        "flags": [],
        "protocol": None,
        "request": None,
    }
    return msgspec.msgpack.encode(list({**parts, **changes}.values()))


def evidence(pages: list[Any]) -> bytes:
    """Return the bytes of a site's evidence."""
    return b"FSE\x03" + zlib.compress(msgspec.msgpack.encode(pages))


def _many_dicts() -> bytes:
    """Return an item of 60 million empty dicts, a byte each."""
    inner = b"\x81\xa4dict\x81\xa1a\xdd" + struct.pack(">I", 60_000_000) + b"\x80" * 60_000_000
    return msgspec.msgpack.encode([inner])


def _many_items() -> bytes:
    """Return a row of 30 million items, two bytes each."""
    return b"\xdd" + struct.pack(">I", 30_000_000) + b"\xc4\x00" * 30_000_000


def _many_headers() -> bytes:
    """Return a response of 15 million headers, four bytes each."""
    many = struct.pack(">I", 15_000_000) + b"\x92\xc4\x00\x90" * 15_000_000
    return response().replace(b"\x90", b"\xdd" + many, 1)


_ENDLESS_VIEW = (
    "DROP TABLE site; CREATE VIEW site AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
    "SELECT x AS name, x AS method, x AS knowledge, x AS pages_seen, x AS ready FROM n"
)
_SLOW_CHECK = (
    "CREATE TABLE other (x CHECK (length(hex(zeroblob(400000000))) > 0)); PRAGMA ignore_check_constraints = ON; "
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000) INSERT INTO other SELECT x FROM n"
)
_GENERATED = "ALTER TABLE site ADD COLUMN more AS (hex(zeroblob(400000000)))"
_RECURSIVE_TRIGGER = (
    "CREATE TRIGGER sometimes AFTER UPDATE ON parked BEGIN UPDATE parked SET released = released + 1; END; "
    "PRAGMA recursive_triggers = ON"
)
_HIDDEN_NAME = (
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = 'sqlite_stat9', "
    "sql = replace(sql, 'sometimes', 'sqlite_stat9') WHERE type = 'trigger'"
)

PREPARED: dict[str, Callable[[Path], bool]] = {
    "a run named by an absolute path": _sql("UPDATE run SET name = '/etc/passwd'", refused=True),
    "a run named by dots": _sql("UPDATE run SET name = '../../elsewhere/victim'", refused=True),
    "a row of a run named by dots": _sql("UPDATE parked SET run = '../../elsewhere/victim'", refused=True),
    "a run named with NUL": _sql("UPDATE run SET name = CAST(name || x'00' || '/..' AS TEXT)", refused=True),
    "a run with a long name": _sql("UPDATE run SET name = printf('%.*c', 99999, 'a')", refused=True),
    "a run named in Arabic digits": _sql(
        "UPDATE run SET name = replace(hex(zeroblob(16)), '0', char(1632))", refused=True
    ),
    "a job that is no path": _sql("UPDATE run SET job = CAST(x'2f00' AS TEXT)", refused=False),
    "a job with a long name": _sql("UPDATE run SET job = printf('%.*c', 99999, 'a')", refused=False),
    "text that is no UTF-8": _sql("UPDATE run SET job = CAST(x'ff' AS TEXT)", refused=False),
    "the highest number": _sql("UPDATE parked SET id = 9223372036854775807 WHERE id = 1", refused=True),
    "numbers below zero": _sql("UPDATE parked SET id = -1 WHERE id = 1", refused=True),
    "a count without end": _sql("INSERT INTO site VALUES ('a', 'b', NULL, 9223372036854775807, 0)", refused=True),
    "a value of 300 MB": _sql("UPDATE page SET html = zeroblob(300000000) WHERE id = 1", refused=True),
    "a row whose page is not there": _sql("UPDATE parked SET page = 9999 WHERE id = 1", refused=False),
    "a page whose response is not there": _sql("UPDATE page SET response = 9999 WHERE id = 1", refused=False),
    "pages of a site with another name": _sql(
        "UPDATE page SET site = char(27) || '[2J' || char(10) || 'ERROR'", refused=False
    ),
    "an endless view": _sql(_ENDLESS_VIEW, refused=True),
    "an endless view in a damaged file": _damaged(_sql(_ENDLESS_VIEW, refused=True), refused=True),
    "a trigger that starts itself": _sql(_RECURSIVE_TRIGGER, refused=True),
    "a trigger named as SQLite's own": _sql(f"{_RECURSIVE_TRIGGER}; {_HIDDEN_NAME}", refused=True),
    "a CHECK that takes hours": _damaged(_sql(_SLOW_CHECK, refused=True), refused=True),
    "a column that computes 800 MB": _damaged(_sql(_GENERATED, refused=True), refused=True),
    "a pipe": _instead(os.mkfifo),
    "a device": _instead(lambda store: store.symlink_to("/dev/zero")),
    "a link to a file that is no store": _instead(lambda store: store.symlink_to(victim(store))),
    "a link to nothing": _instead(lambda store: store.symlink_to(victim(store).with_name("new"))),
    "a link to itself": _instead(lambda store: store.symlink_to(store)),
    "a link as the log": _beside("-wal"),
    "a link as the shared memory": _beside("-shm"),
    "a link as the journal": _beside("-journal"),
    "a journal that names a file": _journal,
    "a link as a lock file": _lock_of_a_link,
    "a row of no items": _sql("UPDATE parked SET count = 0 WHERE id = 1", refused=True),
    "a row of endlessly many items": _sql("UPDATE parked SET count = 1 << 62 WHERE id = 1", refused=True),
    "a row that holds fewer items than it says": _sql("UPDATE parked SET count = 2 WHERE id = 10", refused=False),
    "a row over others": _first_row("items", lambda: msgspec.msgpack.encode([b"", b""])),
    "a row of 30 million empty items": _first_row("items", _many_items),
    "an item that unpacks to 256 MB": _first_item(lambda: bytes(1 << 28)),
    "an item of 60 million dicts": _first_item(_many_dicts),
    "an item that names a module": _first_item(item("object", [["shop.evil", "Item"], {}, None, None])),
    "an item that names a function": _first_item(item("object", [["os", "system"], {}, None, None])),
    "an item with its page 1.5 million times": _first_item(msgspec.msgpack.encode([b""] * 1_500_000)),
    "an item that is no item": _first_item(item("list", [1])),
    "a page that unpacks to 256 MB": _first_row("html", lambda: bytes(1 << 28)),
    "a page that is no text": _first_row("html", b"\xff\xfe"),
    "a response that is no response": _first_row("data", b"\x90"),
    "a response of another kind": _first_row("data", response(kind="__class__")),
    "a response with a large status": _first_row("data", response(status=1 << 63)),
    "a response with odd headers": _first_row(
        "data", response(headers=[(b"Set-Cookie\r\nX: y", [b"a\r\n\r\n<p>"])])
    ),
    "a response of 15 million headers": _first_row("data", _many_headers),
    "a response in punycode": _first_row("data", response(body=None, encoding="punycode")),
    "knowledge that is none": _knowledge(lambda: b"no knowledge"),
    "knowledge that unpacks to 256 MB": _knowledge(lambda: b"FSE\x03" + zlib.compress(bytes(1 << 28))),
    "knowledge of 2 million pages": _knowledge(lambda: evidence([[key, [b""] * 9] for key in range(2_000_000)])),
    "knowledge of a page with a million paths": _knowledge(
        lambda: evidence([[1, [numbers(range(1_000_000)), numbers(range(-1, 999_999)), *[b""] * 7]]])
    ),
}


# A package that the spider loads, with a module that it does not load.
SHOP = "import scrapy\n\n\nclass Item(scrapy.Item):\n    pass\n"
EVIL = "from pathlib import Path\n\nPath('it-ran').touch()\nfrom shop import Item\n"


def prepared_store(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """Somebody changed the store of a killed crawl, to do harm; the next run fetches half of the pages."""
    return crawl_on_prepared(random.choice(sorted(PREPARED)), folder, server, random)


def crawl_on_prepared(name: str, folder: Path, server: DemoServer, random: Random) -> Outcome:
    """Do the same with the store of this name."""
    crawls, outcome = Crawls(folder, server, settings="import shop\n"), Outcome()
    (crawls.folder / "shop").mkdir()
    crawls.write("shop/__init__.py", SHOP)
    crawls.write("shop/evil.py", EVIL)
    parked = crawls.leave_parked(random.randint(4, 20))
    victim(crawls.store).parent.mkdir(exist_ok=True)
    victim(crawls.store).write_bytes(VICTIM)
    refused = PREPARED[name](crawls.store)
    again = crawls.urls[len(crawls.urls) // 2 :]
    crawls.fetch(again)
    items = crawls.run(feed="after.jsonl", quota=random.choice((8, 500)))
    if refused:
        last = crawls.log.strip().splitlines()[-1]
        one_line = "Traceback" not in crawls.log and last.startswith("The crawl cannot begin: the store")
        outcome.must(not items and crawls.code == 1 and one_line, f"{name}: {crawls.log}")
    else:
        outcome.missing(again, items)
        left = set(parked) - {item["url"] for item in items} - set(again)
        outcome.lost += max(0, len(left) - 1)  # the one whose row was changed stays in the store
        outcome.twice(items)
        outcome.must(crawls.code == 0 and "Traceback" not in crawls.log, f"{name}: {crawls.log}")
    outcome.must(victim(crawls.store).read_bytes() == VICTIM, f"{name}: another's file was changed")
    beside = [path.name for path in victim(crawls.store).parent.iterdir()]
    outcome.must(beside == ["victim"], f"{name}: another's folder has {beside}")
    outcome.must(not (crawls.folder / "it-ran").exists(), f"{name}: code ran that the store named")
    outcome.must("\x1b" not in crawls.log, f"{name}: the log steers the terminal")
    return outcome


def _named_by_its_hash(folder: Path, data: bytes) -> None:
    (folder / f"{sha256(data).hexdigest()}.knowledge").write_bytes(data)


def record(*parts: Any) -> Callable[[Path], None]:
    """Return what writes a file that holds ``parts``, named as it should be."""
    return lambda folder: _named_by_its_hash(folder, msgspec.msgpack.encode(parts))


def _sparse(folder: Path) -> None:
    with (folder / f"{'0' * 64}.knowledge").open("wb") as file:
        file.truncate(1 << 40)


def _unreadable(folder: Path) -> None:
    record("a", "b", b"")(folder)
    for file in folder.glob("*.knowledge"):
        if file.is_file():
            file.chmod(0)


# What may lie in the folder of a site.
FILES: dict[str, Callable[[Path], object]] = {
    "no MessagePack": lambda folder: _named_by_its_hash(folder, b"no record"),
    "nothing": lambda folder: _named_by_its_hash(folder, b""),
    "a record of other types": record(1, 2, 3),
    "a record too short": record("a"),
    "a record of another site": record("b.example", "fusion", b"FSE\x03"),
    "20 million values": lambda folder: _named_by_its_hash(folder, b"\xdd\x01\x31\x2d\x00" + bytes(20_000_000)),
    "1 TB of nothing": _sparse,
    "a pipe": lambda folder: os.mkfifo(folder / f"{'1' * 64}.knowledge"),
    "a folder": lambda folder: (folder / f"{'2' * 64}.knowledge").mkdir(),
    "a device": lambda folder: (folder / f"{'3' * 64}.knowledge").symlink_to("/dev/zero"),
    "a link to nothing": lambda folder: (folder / f"{'4' * 64}.knowledge").symlink_to("nothing"),
    "a file that may not be read": _unreadable,
}
KNOWLEDGE = {
    "no knowledge": b"no knowledge",
    "knowledge of another version": b"FSE\x09",
    "a damaged page": evidence([[1, [b"\0"] * 9]]),
}


def shared_store(folder: Path, server: DemoServer, random: Random) -> Outcome:
    """A shared store holds what we know and files that are none of ours, some with names that fit."""
    crawls = Crawls(folder, server, settings='DENOISE_SHARED_STORE = "shared"\n')
    outcome, fetched = Outcome(), crawls.urls
    crawls.fetch(fetched[:8])
    first = crawls.run(feed="first.jsonl", quota=random.choice((6, 500)))
    [site] = [found for method in (crawls.folder / "shared").iterdir() for found in method.iterdir()]
    own = msgspec.msgpack.decode(next(iter(site.glob("*.knowledge"))).read_bytes())
    for name in random.sample(sorted(FILES), random.randint(1, len(FILES))):
        FILES[name](site)
    for name in random.sample(sorted(KNOWLEDGE), random.randint(0, len(KNOWLEDGE))):
        record(*own[:2], KNOWLEDGE[name])(site)
    crawls.fetch(fetched[8:])
    try:
        after = crawls.without_rights("after.jsonl")
    finally:
        for file in site.glob("*.knowledge"):
            with suppress(OSError):
                file.chmod(0o644)
    outcome.missing(fetched, first, after)
    outcome.twice(first, after)
    whole = crawls.code == 0 and "Traceback" not in crawls.log and "denoise/failed" not in crawls.stats
    outcome.must(whole, crawls.log)
    shutil.rmtree(site)
    return outcome
