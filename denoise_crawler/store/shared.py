"""What many crawlers know of sites, in a folder they share: on a disk, or wherever fsspec reaches."""

from __future__ import annotations

import logging
import uuid
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from denoise_crawler.errors import SharedStoreError
from denoise_crawler.methods.versioned_format import MAX_BYTES, decoded
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

logger = logging.getLogger(__name__)

SUFFIX = ".knowledge"
_MAX_NAME_CHARACTERS = 100  # characters of a folder's name that come from the site's
_MAX_TRIES = 20  # to read files that others are merging meanwhile
_MAX_FILE_BYTES = MAX_BYTES + 1_000_000  # bytes of a file: knowledge and what it is of
_MAX_SITE_BYTES = 4 * _MAX_FILE_BYTES  # of the files of a site that are read at a time


class _SharedRecord(msgspec.Struct, array_like=True):
    site: str
    method: str
    knowledge: bytes


class SharedStore:
    """Knowledge by site and method in a folder at ``address``: a path, or what fsspec knows (``s3://…``).

    Of a site there is one file or, for a while, several; all of them together are what is known. A file is
    named by the hash of what it holds, comes into being whole and is never changed. Who puts something reads
    the files of the site, writes one that holds them all and what is new, and only then deletes those it has
    read. So nothing is lost whoever writes at the same time, and no lock is needed.

    What else lies there (a file that is damaged, too large, of another site, or no file) is passed over with a
    warning, and stays. Raises :class:`SharedStoreError` if the folder cannot be reached, read or written.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._passed_over: set[str] = set()
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

    def known(self) -> Iterator[tuple[str, str]]:
        """Yield each site and method of which something is known."""
        with self._one_error():
            folders = [folder for method in self._folders(self._root) for folder in self._folders(method)]
        for folder in folders:
            with self._one_error():
                record = next(iter(self._records(folder).values()), None)
            if record is not None:
                yield record.site, record.method

    def knowledge(self, site: str, method: str) -> list[bytes]:
        """Return what is known of a site: parts to be merged."""
        with self._one_error():
            found = self._records(self._folder(site, method))
        return [record.knowledge for _, record in sorted(found.items())]

    def save_knowledge(self, site: str, method: str, known: bytes, merge: Callable[[list[bytes]], bytes]) -> None:
        """Add what is ``known`` of a site; ``merge`` makes one of several parts."""
        with self._one_error():
            self._put(site, method, known, merge)

    def _put(self, site: str, method: str, known: bytes, merge: Callable[[list[bytes]], bytes]) -> None:
        folder = self._folder(site, method)
        there = self._records(folder)
        parts = [record.knowledge for _, record in sorted(there.items())]
        whole = merge([*parts, known]) if parts else known
        data = msgspec.msgpack.encode(_SharedRecord(site, method, whole))
        name = f"{folder}/{sha256(data).hexdigest()}{SUFFIX}"
        if name not in there:
            self._write(folder, name, data)
        for old in there:
            if old != name:
                self._delete(old)

    def _write(self, folder: str, name: str, data: bytes) -> None:
        unfinished = f"{folder}/{uuid.uuid4().hex}.tmp"
        self._files.makedirs(folder, exist_ok=True)
        self._files.pipe_file(unfinished, data)
        self._files.mv(unfinished, name)

    def _delete(self, name: str) -> None:
        try:
            self._files.rm_file(name)
        except FileNotFoundError:
            pass  # another has merged it as well
        except Exception as error:
            logger.warning("%s is merged but cannot be deleted: %s", name, error)

    def _records(self, folder: str) -> dict[str, _SharedRecord]:
        """Return the records of the site's files, by their names."""
        for _ in range(_MAX_TRIES):
            names = self._names(folder)
            try:
                read = {name: self._record(folder, name) for name in names}
            except FileNotFoundError:
                continue  # another has merged it: what it held is in a newer file
            return {name: record for name, record in read.items() if record is not None}
        raise OSError(f"{folder} is changed all the time by others; try again later")

    def _record(self, folder: str, name: str) -> _SharedRecord | None:
        """Return what a file holds, None for one that is passed over; raise FileNotFoundError."""
        try:
            data = self._files.cat_file(name, start=0, end=_MAX_FILE_BYTES + 1)
            if not name.endswith(f"/{sha256(data).hexdigest()}{SUFFIX}"):
                raise ValueError("it does not hold what it is named by")
            record: _SharedRecord = decoded(data, _SharedRecord)
            if folder.split("/")[-2:] != self._folder(record.site, record.method).split("/")[-2:]:
                raise ValueError("it is of another site or method")
        except FileNotFoundError:
            raise
        except Exception as error:  # whatever is wrong with one file costs nothing but what it holds
            self._pass_over(name, error)
            return None
        return record

    def _pass_over(self, name: str, why: object) -> None:
        if name not in self._passed_over:
            self._passed_over.add(name)
            logger.warning("%s is damaged and passed over: %s", printable(name), printable(why))

    def _names(self, folder: str) -> list[str]:
        """Return the names of the files to read: none that is too large, no more than are read at a time."""
        found, room = [], _MAX_SITE_BYTES
        for entry in sorted(self._entries(folder), key=lambda entry: str(entry["name"])):
            name, size = str(entry["name"]), entry.get("size") or 0
            if not name.endswith(SUFFIX) or name in self._passed_over:
                continue
            if entry["type"] != "file" or size > _MAX_FILE_BYTES:
                self._pass_over(name, "it is no file, or too large")
            elif size <= room:  # those that are left over are read when these are one
                found.append(name)
                room -= size
        return found

    def _folders(self, folder: str) -> list[str]:
        return sorted(str(entry["name"]) for entry in self._entries(folder) if entry["type"] == "directory")

    def _entries(self, folder: str) -> list[dict[str, Any]]:
        self._files.invalidate_cache(folder)
        try:
            return list(self._files.ls(folder, detail=True))
        except FileNotFoundError:
            return []

    @contextmanager
    def _one_error(self) -> Iterator[None]:
        """Make one error of all that the many kinds of addresses know."""
        try:
            yield
        except Exception as error:
            raise SharedStoreError(
                f"the shared store {self.address} cannot be read or written: {printable(error)}"
            ) from error

    def _folder(self, site: str, method: str) -> str:
        name, unique = (
            quote(site, safe="")[:_MAX_NAME_CHARACTERS],
            sha256(site.encode("utf-8", "replace")).hexdigest(),
        )
        return f"{self._root}/{quote(method, safe='')}/{name}-{unique[:16]}"
