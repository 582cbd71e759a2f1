"""What is known of sites: in the tables of a store file, or in a folder that crawls share."""

from __future__ import annotations

import logging
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import quote

import msgspec

from denoise_crawler.errors import SharedStoreError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.stored_bytes import MAX_BYTES, decode_msgpack
from denoise_crawler.page.text import printable
from denoise_crawler.store.file import transaction

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SiteState:
    """The progress of a site: pages seen so far, and whether its warm-up is over."""

    pages_seen: int = 0
    ready: bool = False


@dataclass(slots=True)
class StoredSite:
    """A site: its progress by the store key of the method, who knows it, how many items wait, of all runs."""

    states: dict[str, SiteState] = field(default_factory=dict)
    known_by: list[str] = field(default_factory=list)
    waiting: int = 0


class SiteTables:
    """The tables of sites in an open store file; ``run`` is the name of the run that has it open."""

    def __init__(self, db: sqlite3.Connection, run: str) -> None:
        self._db, self.run = db, run

    def together(self) -> AbstractContextManager[object]:
        """Commit at once all that is written inside a block."""
        return transaction(self._db)

    def site(self, name: str, method: str) -> SiteState:
        """Return the progress of a site with a method."""
        query = "SELECT pages_seen, ready FROM site WHERE name = ? AND method = ?"
        row = self._db.execute(query, (name, method)).fetchone()
        return SiteState(row[0], bool(row[1])) if row else SiteState()

    def knowledge(self, site: str, method: str) -> list[bytes]:
        """Return the knowledge of a site in a list, empty if there is none."""
        query = "SELECT knowledge FROM site WHERE name = ? AND method = ? AND knowledge IS NOT NULL"
        return [row[0] for row in self._db.execute(query, (site, method))]

    def sites(self) -> dict[str, StoredSite]:
        """Return all sites by name, those with the most pages seen first."""
        sites: dict[str, StoredSite] = {}
        for name, method, pages_seen, ready, is_known in self._db.execute(
            "SELECT name, method, pages_seen, ready, knowledge IS NOT NULL FROM site "
            "ORDER BY pages_seen DESC, name, method"
        ):
            site = sites.setdefault(name, StoredSite())
            site.states[method] = SiteState(pages_seen, bool(ready))
            site.known_by += [method] if is_known else []
        for name, waiting in self._db.execute(
            "SELECT site, count(*) FROM parked JOIN page ON page.id = page WHERE NOT released GROUP BY site"
        ):
            sites.setdefault(name, StoredSite()).waiting = waiting
        return sites

    def save_state(self, name: str, method: str, state: SiteState) -> None:
        """Keep the progress of a site, unless another run has got further."""
        with transaction(self._db) as db:
            db.execute(
                "INSERT INTO site (name, method, pages_seen, ready) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
                "SET pages_seen = max(pages_seen, excluded.pages_seen), ready = max(ready, excluded.ready)",
                (name, method, state.pages_seen, state.ready),
            )

    def save_knowledge(self, site: str, method: str, known: bytes, merge: Callable[[list[bytes]], bytes]) -> None:
        """Keep knowledge of a site; ``merge`` makes one of the stored knowledge and ``known``."""
        with transaction(self._db) as db:
            stored = self.knowledge(site, method)
            if stored == [known]:
                return
            merged = merge([*stored, known]) if stored else known
            db.execute(
                "INSERT INTO site (name, method, knowledge) VALUES (?1, ?2, ?3) "
                "ON CONFLICT DO UPDATE SET knowledge = ?3",
                (site, method, merged),
            )


# --- a folder that crawls share: on a disk, or wherever fsspec reaches

SUFFIX = ".knowledge"
_MAX_NAME_CHARACTERS = 100  # of a site's name in its folder's
_MAX_TRIES = 20  # to read files that others merge at the same time
_MAX_FILE_BYTES = MAX_BYTES + 1_000_000  # knowledge, site and method
_MAX_FILES = 4  # of a site that are read at a time; the rest is read once these are merged


class _Record(msgspec.Struct, array_like=True):
    site: str
    method: str
    knowledge: bytes


class SharedStore:
    """Knowledge by site and method in a folder at ``address``: a path, or what fsspec knows (``s3://…``).

    A site has one file or, for a while, several, which together are its knowledge. A file is named by the hash of
    its content, appears whole and never changes. A writer reads the site's files, writes one that merges them with
    its own knowledge, and then deletes those it has read. So nothing is lost without a lock.

    Other entries (damaged, too large, of another site, or no file) are skipped with a warning and stay.

    Raises:
        SharedStoreError: The folder cannot be reached, read or written, here or in a method.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._skipped: set[str] = set()
        try:
            from fsspec.core import url_to_fs

            self._files, self._root = url_to_fs(address)
            self._files.makedirs(self._root, exist_ok=True)
        except ImportError as error:
            raise SharedStoreError(
                f"the shared store {address} needs a package: {error}. pip install 'denoise-crawler[shared]', and "
                "what fsspec names for that kind of address"
            ) from None
        except Exception as error:  # each kind of address has errors of its own
            raise SharedStoreError(f"the shared store {address} cannot be used: {error}") from None

    def knowledge(self, site: str, method: str) -> list[bytes]:
        """Return the knowledge of a site in parts to merge."""
        with self._convert_errors():
            records = self._records(self._folder(site, method))
        return [record.knowledge for _, record in sorted(records.items())]

    def save_knowledge(self, site: str, method: str, known: bytes, merge: Callable[[list[bytes]], bytes]) -> None:
        """Add knowledge of a site; ``merge`` makes one of several parts."""
        with self._convert_errors():
            folder = self._folder(site, method)
            stored = self._records(folder)
            parts = [record.knowledge for _, record in sorted(stored.items())]
            data = msgspec.msgpack.encode(_Record(site, method, merge([*parts, known]) if parts else known))
            name = f"{folder}/{sha256(data).hexdigest()}{SUFFIX}"
            if name not in stored:
                unfinished = f"{folder}/{uuid.uuid4().hex}.tmp"
                self._files.makedirs(folder, exist_ok=True)
                self._files.pipe_file(unfinished, data)
                self._files.mv(unfinished, name)
            for merged in stored.keys() - {name}:
                self._delete(merged)

    def _delete(self, name: str) -> None:
        try:
            self._files.rm_file(name)
        except FileNotFoundError:
            pass  # another crawl has merged it as well
        except Exception as error:
            logger.warning("%s is merged but cannot be deleted: %s", name, error)

    def _records(self, folder: str) -> dict[str, _Record]:
        """Return the records of the site's files, by their names."""
        for _ in range(_MAX_TRIES):
            try:
                records = {name: self._record(folder, name) for name in self._names(folder)}
            except FileNotFoundError:
                continue  # another crawl has merged it into a newer file
            return {name: record for name, record in records.items() if record is not None}
        raise OSError(f"{folder} is changed all the time by others; try again later")

    def _record(self, folder: str, name: str) -> _Record | None:
        """Return the record of a file, None if it is skipped; raise FileNotFoundError."""
        try:
            data = self._files.cat_file(name, start=0, end=_MAX_FILE_BYTES + 1)
            if not name.endswith(f"/{sha256(data).hexdigest()}{SUFFIX}"):
                raise ValueError("its content is not that of its name")
            record: _Record = decode_msgpack(data, _Record)
            if folder.split("/")[-2:] != self._folder(record.site, record.method).split("/")[-2:]:
                raise ValueError("it is of another site or method")
        except FileNotFoundError:
            raise
        except Exception as error:  # a bad file costs only its own record
            self._skip(name, error)
            return None
        return record

    def _skip(self, name: str, why: object) -> None:
        self._skipped.add(name)
        logger.warning("%s is damaged and skipped: %s", printable(name), printable(why))

    def _names(self, folder: str) -> list[str]:
        """Return the files to read."""
        self._files.invalidate_cache(folder)
        try:
            entries = self._files.ls(folder, detail=True)
        except FileNotFoundError:
            return []
        names = list[str]()
        for entry in sorted(entries, key=lambda entry: str(entry["name"])):
            name, size = str(entry["name"]), entry.get("size") or 0
            if not name.endswith(SUFFIX) or name in self._skipped:
                continue
            if entry["type"] != "file" or size > _MAX_FILE_BYTES:
                self._skip(name, "it is no file, or too large")
            else:
                names.append(name)
        return names[:_MAX_FILES]

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Turn the errors of the many kinds of addresses into one."""
        try:
            yield
        except Exception as error:
            raise SharedStoreError(
                f"the shared store {self.address} cannot be read or written: {printable(error)}"
            ) from error

    def _folder(self, site: str, method: str) -> str:
        name, unique = quote(site, safe="")[:_MAX_NAME_CHARACTERS], sha256(site.encode("utf-8", "replace"))
        return f"{self._root}/{quote(method, safe='')}/{name}-{unique.hexdigest()[:16]}"


def _raise(error: Exception) -> None:
    raise error


class StoredKnowledge:
    """The knowledge of one method in a store.

    Args:
        store: The store: an SQLite file, or a folder that crawls share.
        choice: The method, which merges what several crawls learned of a site.
        on_error: Called with each error; the site then counts as unknown, or nothing is stored. Without it,
            errors are raised.
    """

    def __init__(
        self,
        store: SiteTables | SharedStore,
        choice: MethodChoice,
        *,
        on_error: Callable[[Exception], object] = _raise,
    ) -> None:
        self._store, self._choice, self._key, self._on_error = store, choice, choice.key, on_error
        self._hashes: dict[str, int] = {}  # by site, of the parts last read or written

    def get(self, site: str) -> bytes | None:
        """Return the knowledge of ``site``, None if there is none."""
        try:
            parts = self._store.knowledge(site, self._key)
            self._hashes[site] = hash(tuple(parts))
            return self._merged(parts, site) if parts else None
        except Exception as error:  # no error of a store costs an item
            self._on_error(error)
            return None

    def put(self, site: str, known: bytes) -> bool:
        """Save knowledge of ``site``, merged with what others have stored since it was read."""

        def merge(parts: list[bytes]) -> bytes:
            includes_others = hash(tuple(parts[:-1])) == self._hashes.get(site)  # which were read before
            return parts[-1] if includes_others else self._merged(parts, site)

        try:
            self._store.save_knowledge(site, self._key, known, merge)
        except Exception as error:
            self._on_error(error)
            return False
        self._hashes[site] = hash((known,))
        return True

    def _merged(self, parts: list[bytes], site: str) -> bytes:
        return parts[0] if len(parts) == 1 else self._choice.knowing(parts, site).to_bytes()
