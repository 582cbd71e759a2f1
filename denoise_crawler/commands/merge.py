"""``scrapy denoise merge``: what several crawls, or Spark, know of sites, in one store."""

from __future__ import annotations

import logging
import sqlite3
import sys
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn

from denoise_crawler.commands.help_text import help_text
from denoise_crawler.commands.method_choice import add_method_choice, chosen_settings
from denoise_crawler.errors import DenoiseError, StoreError
from denoise_crawler.methods import METHODS, MethodChoice
from denoise_crawler.page.text import printable
from denoise_crawler.store import SiteState, Store
from denoise_crawler.store.knowledge import StoredKnowledge
from denoise_crawler.store.shared import SharedStore

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings


_EPILOG = help_text(
    {
        "scrapy denoise merge monday.sqlite tuesday.sqlite -o all.sqlite": "what two crawls know, in one store",
        "scrapy denoise merge crawl.sqlite -o shared/": "add it to a folder that crawls share",
    },
    "A store is the file of a crawl (DENOISE_STORE), a folder that crawls share (a path or an address as "
    "s3://bucket/folder) or a folder of trees written by denoise_crawler.spark. The output is a file, or a shared "
    "folder if it is one already, ends in / or is an address. It is merged with what it holds. Pages that wait "
    "stay in the store they are in.",
    "Exit codes: 0 done, 1 something could not be read or written, 2 wrong usage.",
)


class _Known(NamedTuple):
    site: str
    method: str
    knowledge: bytes
    state: SiteState = SiteState()


class _Target(Protocol):
    def add(self, known: _Known, choice: MethodChoice) -> None:
        """Merge with what is there."""


class _MergeError(DenoiseError):
    """A store cannot be merged; the message says which and why."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _EPILOG
    parser.add_argument("stores", nargs="+", metavar="STORE", help="what is to be merged")
    parser.add_argument("-o", "--output", required=True, metavar="STORE", help="where to, beside what it holds")
    add_method_choice(parser)


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Merge and return the exit code."""
    logging.basicConfig(format="%(message)s")
    chosen = chosen_settings(arguments, settings, {})
    choices, account = _choices(chosen.choice), _Account()
    try:
        with _target(arguments.output, chosen.warmup_pages) as target:
            for name in arguments.stores:
                for known in _watched(name, _source(name)):
                    _merge(known, choices, target, account)
    except (_MergeError, StoreError, OSError, sqlite3.Error) as error:
        print(printable(error), file=sys.stderr)
        return 1
    print(f"{arguments.output}: {len(account.sites):,} sites from {len(arguments.stores)} stores")
    for method, sites in account.unknown.items():
        print(
            f"left out: {sites:,} sites of {printable(method)}; "
            "name that method with its options: --method, --option",
            file=sys.stderr,
        )
    return 1 if account.unknown or account.unreadable else 0


def _watched(name: str, sites: Iterator[_Known]) -> Iterator[_Known]:
    """Yield the sites; on a terminal, say how many there were."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed:,} sites"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield from progress.track(sites, description=escape(name))


@dataclass
class _Account:
    sites: set[str] = field(default_factory=set)
    unknown: Counter[str] = field(default_factory=Counter)
    unreadable: int = 0


def _merge(known: _Known, choices: dict[str, MethodChoice], target: _Target, account: _Account) -> None:
    if known.method not in choices:
        account.unknown[known.method] += 1
        return
    try:
        choices[known.method].new().merge_bytes(known.knowledge)
    except ValueError as error:
        account.unreadable += 1
        print(printable(f"left out: what is known of {known.site} cannot be read: {error}"), file=sys.stderr)
        return
    target.add(known, choices[known.method])
    account.sites.add(known.site)


def _choices(chosen: MethodChoice) -> dict[str, MethodChoice]:
    """Return the methods that can be merged, by store key: the chosen one, and all with their defaults."""
    defaults = {choice.key: choice for choice in map(MethodChoice, METHODS)}
    return {**defaults, chosen.key: chosen}


def _source(name: str) -> Iterator[_Known]:
    path = Path(name)
    if "://" not in name and not path.exists():
        raise _MergeError(f"{name} is not there")
    if path.is_file():
        return _of_file(path)
    if any(path.glob("*.parquet")):
        return _of_spark(path)
    return _of_folder(name)


def _of_file(path: Path) -> Iterator[_Known]:
    with closing(Store(path, read_only=True)) as store:
        for site, method in store.known():
            for knowledge in store.knowledge(site, method):
                yield _Known(site, method, knowledge, store.site(site, method))


def _of_folder(name: str) -> Iterator[_Known]:
    store, found = SharedStore(name), False
    for site, method in store.known():
        for knowledge in store.knowledge(site, method):
            found = True
            yield _Known(site, method, knowledge)
    if not found:
        raise _MergeError(f"{name} holds nothing that is known of sites")


def _of_spark(path: Path) -> Iterator[_Known]:
    try:
        from pyarrow import dataset
    except ImportError:
        raise _MergeError(f"reading {path} needs pyarrow: pip install 'denoise-crawler[spark]'") from None
    columns = ["site", "method", "knowledge"]
    trees = dataset.dataset(path, format="parquet", ignore_prefixes=["_", "."])
    if missing := set(columns) - set(trees.schema.names):
        raise _MergeError(f"{path} has no trees: no column {', '.join(sorted(missing))}")
    for batch in trees.to_batches(columns=columns, batch_size=64):
        for row in batch.to_pylist():
            if row["knowledge"]:
                yield _Known(row["site"], row["method"], row["knowledge"])


@contextmanager
def _target(name: str, warmup_pages: int) -> Iterator[_Target]:
    if "://" in name or name.endswith("/") or Path(name).is_dir():
        yield _ToFolder(SharedStore(name))
    else:
        with closing(Store(name)) as store:
            yield _ToFile(store, warmup_pages)


class _ToFolder:
    def __init__(self, store: SharedStore) -> None:
        self._store = store

    def add(self, known: _Known, choice: MethodChoice) -> None:
        StoredKnowledge(self._store, choice).put(known.site, known.knowledge)


class _ToFile:
    def __init__(self, store: Store, warmup_pages: int) -> None:
        self._store, self._warmup_pages = store, warmup_pages

    def add(self, known: _Known, choice: MethodChoice) -> None:
        site, state = known.site, known.state
        knowledge = StoredKnowledge(self._store, choice)
        knowledge.put(site, known.knowledge)
        pages = choice.knowing([knowledge.get(site) or b""], site).pages_known
        # a crawl counts pages until the site is known, no further
        seen = max(min(pages, self._warmup_pages), state.pages_seen)
        self._store.save_state(site, choice.key, SiteState(seen, state.ready or pages >= self._warmup_pages))
