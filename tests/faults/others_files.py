"""Crawls on what others made: a store prepared to do harm, a shared store with files that are none of ours."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from tests.faults.crawls import Crawls, Outcome
from tests.faults.prepared_stores import PREPARED, VICTIM, evidence, victim

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    from denoise_crawler.demo.server import DemoServer

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
