"""``scrapy denoise merge``: merges the knowledge of several crawls into one store."""

from __future__ import annotations

import logging
import sqlite3
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from scrapy.settings import BaseSettings

from denoise_crawler.commands.method_choice import add_method_choice, add_output, new_file, settings_with_method
from denoise_crawler.commands.page_input import fail, help_text
from denoise_crawler.errors import OutputError, StoreError
from denoise_crawler.methods import METHODS, MethodChoice
from denoise_crawler.page.text import printable
from denoise_crawler.store import SiteState, Store
from denoise_crawler.store.shared import SharedStore, StoredKnowledge

EPILOG = help_text(
    {
        "scrapy denoise merge monday.sqlite tuesday.sqlite -o all.sqlite": "the knowledge of both, in one store",
        "scrapy denoise merge crawl.sqlite -o shared/": "add it to a folder that crawls share",
    },
    "A store is the file of a crawl (DENOISE_STORE), or a folder that crawls share (a path or an address as "
    "s3://bucket/folder). The output is a file, or a shared folder if it is one already, ends in / or is an "
    "address. It is merged with what it holds. Waiting items stay "
    "in their store.",
    "Exit codes: 0 done, 1 something could not be read or written, 2 wrong usage.",
)


class _Known(NamedTuple):
    site: str
    method: str
    knowledge: bytes
    state: SiteState = SiteState()


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("stores", nargs="+", metavar="STORE", help="a store to merge")
    add_output(parser, "STORE", "the store to merge into")
    add_method_choice(parser)


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Merge the stores and return the exit code."""
    logging.basicConfig(format="%(message)s")
    chosen = settings_with_method(arguments, settings, {})
    choices, account = _choices(chosen.choice), _Account()
    replace = arguments.output is None
    name_of_target = arguments.overwrite_output if replace else arguments.output
    try:
        with _open_target(name_of_target, replace=replace) as target:
            for name in arguments.stores:
                for known in _open_source(name):
                    if _is_readable(known, choices, account):
                        _add(known, choices[known.method], target, chosen.warmup_pages)
                        account.sites.add(known.site)
    except (StoreError, OutputError, OSError, sqlite3.Error) as error:
        return fail(error)
    print(f"{name_of_target}: {len(account.sites):,} sites from {len(arguments.stores)} stores")
    for method, sites in account.unknown.items():
        what = f"left out: {sites:,} sites of {printable(method)}"
        print(f"{what}; name that method with its options: --method, --option", file=sys.stderr)
    return 1 if account.unknown or account.unreadable else 0


@dataclass
class _Account:
    sites: set[str] = field(default_factory=set)
    unknown: Counter[str] = field(default_factory=Counter)
    unreadable: int = 0


def _is_readable(known: _Known, choices: dict[str, MethodChoice], account: _Account) -> bool:
    """Return True if its method can read the knowledge of a site; else count and print it."""
    if known.method not in choices:
        account.unknown[known.method] += 1
        return False
    try:
        choices[known.method].new().merge_bytes(known.knowledge)
    except ValueError as error:
        account.unreadable += 1
        print(printable(f"left out: the knowledge of {known.site} cannot be read: {error}"), file=sys.stderr)
        return False
    return True


def _choices(chosen: MethodChoice) -> dict[str, MethodChoice]:
    """Return the methods that can be merged, by store key: the chosen one and all defaults."""
    defaults = {choice.key: choice for choice in map(MethodChoice, METHODS)}
    return {**defaults, chosen.key: chosen}


def _open_source(name: str) -> Iterator[_Known]:
    path = Path(name)
    if "://" not in name and not path.exists():
        raise StoreError(f"{name} is not there")
    if path.is_file():
        return _read_file(path)
    return _read_shared_store(name)


def _read_file(path: Path) -> Iterator[_Known]:
    with closing(Store(path, read_only=True)) as store:
        for site, method in store.known():
            for knowledge in store.knowledge(site, method):
                yield _Known(site, method, knowledge, store.site(site, method))


def _read_shared_store(name: str) -> Iterator[_Known]:
    store, is_empty = SharedStore(name), True
    for site, method in store.known():
        for knowledge in store.knowledge(site, method):
            is_empty = False
            yield _Known(site, method, knowledge)
    if is_empty:
        raise StoreError(f"{name} holds no knowledge of sites")


@contextmanager
def _open_target(name: str, *, replace: bool) -> Iterator[Store | SharedStore]:
    """Open the store to merge into. A new file gets its name once it is whole: a merge that fails leaves none."""
    path = Path(name)
    if "://" in name or name.endswith("/") or path.is_dir():
        if replace:
            raise OutputError(f"{name} is a folder that crawls share: -O overwrites a file, -o adds to the folder")
        yield from _shared_folder(name)
    elif path.exists() and not replace:
        with closing(Store(path)) as store:
            yield store
    else:
        if path.with_name(f"{path.name}-wal").exists():
            raise OutputError(f"{path} is open in a crawl, or one was killed: -O does not overwrite it")
        with new_file(path, replace=replace) as file, closing(Store(file)) as store:
            yield store


def _shared_folder(name: str) -> Iterator[SharedStore]:
    """Yield a shared store; remove its folder if it was made for nothing."""
    is_new = "://" not in name and not Path(name).exists()
    try:
        yield SharedStore(name)
    finally:
        if is_new:
            with suppress(OSError):  # it holds something
                Path(name).rmdir()


def _add(known: _Known, choice: MethodChoice, target: Store | SharedStore, warmup_pages: int) -> None:
    site, state = known.site, known.state
    knowledge = StoredKnowledge(target, choice)
    knowledge.put(site, known.knowledge)
    if isinstance(target, Store):
        pages = choice.knowing([knowledge.get(site) or b""], site).pages_known
        # a crawl counts pages until the site is known, no further
        seen = max(min(pages, warmup_pages), state.pages_seen)
        target.save_state(site, choice.key, SiteState(seen, state.ready or pages >= warmup_pages))
