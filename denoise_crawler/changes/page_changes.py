"""What changed on a page since it was last seen, in this run or, by a file, in one before; and its copies."""

from __future__ import annotations

import logging
import re
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from weakref import finalize

import numpy as np
import xxhash

from denoise_crawler.changes import MAX_PAGES
from denoise_crawler.page.headline import AGO
from denoise_crawler.page.text import HAN, KANA, hash32, hash64, printable

MAX_STAMP = 80  # characters of a line that is only a time stamp or a counter
_AGO = re.compile(rf"(?:\b(?:about |over |almost ))?(?:{AGO})|\bjust now\b", re.IGNORECASE)
_CLOCK = r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2})?(?:\s?[ap]\.?m\.?)?"
_STAMPED = re.compile(
    r"^\W*(?:last\s+)?(?:updated?|modified|published|posted|edited|checked|retrieved|printed|as of|stand"
    r"|zuletzt|aktualisiert|mis à jour|actualizado|aggiornato|(?:page )?generated|today is|it is currently)\b",
    re.IGNORECASE,
)
_HAS_DIGIT = re.compile(r"\d")
_ONLY_CLOCK = re.compile(rf"^\W*{_CLOCK}(?:\s+(?:utc|gmt|cet|cest|est|edt|pst|pdt))?\W*$", re.IGNORECASE)
_COUNTED = (
    r"views?|reads?|likes?|shares?|comments?|repl(?:y|ies)|votes?|followers?|subscribers?|downloads?|visits?|visitors?"
    r"|hits|reactions?|claps?|retweets?|online|watching|times|aufrufe|kommentare?|antworten|leser|besucher|vues?"
    r"|commentaires?|visitas|comentarios?|visualizzazioni|commenti|просмотр\w*|комментари\w*|浏览|阅读|评论|点赞|閲覧"
)
_COUNTER = re.compile(
    rf"\d[\d.,\s]*[kKmM]?\s*(?:people\s+|users?\s+)?(?:{_COUNTED})\b|\b(?:{_COUNTED})\s*[:(]?\s*\d[\d.,]*[kKmM]?\)?",
    re.IGNORECASE,
)
_MAX_COUNTER = 40
MAX_LINES = 2_000  # of a page with more, only the hash is known
_HEADER = 12


def stable_lines(text: str) -> Iterator[str]:
    r"""Yield the lines of ``text`` that say something, in one spelling, without what changes by itself.

    Left out are lines that only say when the page was updated, what time it is, or how often something was seen;
    in other lines, how long ago something was. Prices and all other numbers stay.

    Example:
        >>> list(stable_lines("A  Storm\nUpdated 3 May, 10:15\n1,204 views\nSeen 3 hours ago by Ann.\n12:30"))
        ['a storm', 'seen  by ann.']
    """
    for line in text.splitlines():
        plain = " ".join(line.split())
        if plain and not _says_nothing(plain):
            yield _AGO.sub("", plain).casefold()


def _says_nothing(line: str) -> bool:
    if len(line) > MAX_STAMP:
        return False
    if _STAMPED.match(line) and (_HAS_DIGIT.search(line) or _AGO.search(line)):
        return True
    if _ONLY_CLOCK.match(line) or not any(map(str.isalnum, _AGO.sub("", line))):
        return True
    return len(line) <= _MAX_COUNTER and _COUNTER.search(line) is not None


@dataclass(frozen=True, slots=True)
class Fingerprint:
    r"""The hash of the text of a page, and those of its lines: the ``kept`` ones are the text, ``others`` are not.

    Example:
        >>> before = Fingerprint.of("A storm.\n3 hours ago", "Menu\nA storm.\n3 hours ago\nAn advertisement.")
        >>> after = Fingerprint.of("A storm.\n4 hours ago", "Menu\nA storm.\n4 hours ago\nAnother one.")
        >>> after.says_the_same(before), Fingerprint.of("A calm.", "Menu\nA calm.").says_the_same(before)
        (True, False)
    """

    content: int
    kept: frozenset[int]
    others: frozenset[int]

    @classmethod
    def of(cls, text: str, whole: str) -> Fingerprint:
        """Take the fingerprint of a page with this clean ``text``; ``whole`` is all that stands on the page."""
        lines = list(stable_lines(text))
        kept = frozenset(map(hash32, lines))
        others = frozenset(map(hash32, stable_lines(whole))) - kept
        if len(kept) + len(others) > MAX_LINES:
            kept = others = frozenset()
        return cls(hash64("\n".join(lines)), kept, others)

    @property
    def content_hash(self) -> str:
        """The hash of the text as 16 hexadecimal digits."""
        return f"{self.content:016x}"

    def says_the_same(self, before: Fingerprint) -> bool:
        """Return True if a page says what it said ``before``.

        A line that is in the text now and was not, or the other way, is no change if it stood on the page both
        times: then only the verdict on it changed, as more was learned of the site.
        """
        if self.content == before.content:
            return True
        if not (self.kept and before.kept):
            return False
        return self.kept <= before.kept | before.others and before.kept <= self.kept | self.others

    def to_bytes(self) -> bytes:
        """Write the fingerprint: four bytes a line."""
        header = self.content.to_bytes(8, "little") + len(self.kept).to_bytes(4, "little")
        return header + np.array([*self.kept, *self.others], "<u4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Fingerprint:
        """Read a written fingerprint; raise ValueError if it is none."""
        count = int.from_bytes(data[8:_HEADER], "little")
        lines = np.frombuffer(data[_HEADER:], "<u4").tolist()
        if len(data) < _HEADER or count > len(lines):
            raise ValueError("no fingerprint of a page")
        return cls(int.from_bytes(data[:8], "little"), frozenset(lines[:count]), frozenset(lines[count:]))


MAX_REMEMBERED = 50_000  # remembered, of all sites together: those seen last
LEAST_TOKENS = 40  # texts with fewer are alike by chance
MAX_DISTANCE = 3  # of 64 bits
_BANDS, _BAND_BITS = 4, 16  # two texts that differ in three bits have one of four bands in common
_SHINGLE = 3
_MAX_IN_BAND = 50
SAME_TEXT = 3  # addresses with the same short text: the site's error page
SHORT = 1_500
_VERY_SHORT = 600
_TOKEN = re.compile(rf"[{HAN}{KANA}]|[^\W{HAN}{KANA}]+")
_ERROR = re.compile(
    r"\b(?:error\s+)?404\b|\bpage (?:\w+ ){0,4}(?:not|n't|cannot|can't|couldn't) (?:be )?(?:found|exist)"
    r"|\b(?:not found|no longer (?:available|exists)|does(?: not|n't) exist|has been (?:removed|deleted)"
    r"|nicht gefunden|existiert nicht|nicht mehr verfügbar|introuvable|n'existe (?:pas|plus)|no encontrad[ao]"
    r"|no existe|non trovat[ao]|não encontrad[ao]|niet gevonden|nie znaleziono|страница не найдена)\b"
    r"|页面不存在|找不到(?:该)?页面|ページが見つかりません",
    re.IGNORECASE,
)


class Copies(NamedTuple):
    """The address of an earlier page that says nearly the same, and whether a page is the site's error page."""

    near_duplicate_of: str | None
    soft_404: bool


class SeenTexts:
    """Remembers the texts of the pages that were seen, each in 64 bits.

    Example:
        >>> seen, story = SeenTexts(), "A storm sank three boats in the harbour of the town last night. " * 9
        >>> seen.see("a.example", "https://a.example/1", "", story, 1)
        Copies(near_duplicate_of=None, soft_404=False)
        >>> seen.see("a.example", "https://a.example/2", "", story + "Nobody was hurt.", 2).near_duplicate_of
        'https://a.example/1'
        >>> seen.see("a.example", "https://a.example/3", "Page not found", "There is nothing here.", 3).soft_404
        True
    """

    def __init__(self, max_pages: int = MAX_REMEMBERED) -> None:
        self._max_pages = max_pages
        self._pages: OrderedDict[str, tuple[str, int]] = OrderedDict()  # by URL the site and the simhash
        self._bands: dict[tuple[str, int, int], list[str]] = {}
        self._paths: OrderedDict[tuple[str, int], set[str]] = OrderedDict()  # by content, the first addresses

    def see(self, site: str, url: str, title: str, text: str, content: int) -> Copies:
        """Remember a page with its clean text, whose hash is ``content``; return what it is a copy of."""
        is_short = len(text) <= SHORT
        is_error = is_short and self._is_shared(site, url, content)
        if len(text) <= _VERY_SHORT:
            is_error = is_error or _ERROR.search(title) is not None or _ERROR.search(text) is not None
        tokens = _TOKEN.findall(text.casefold())
        if len(tokens) < LEAST_TOKENS:
            return Copies(None, is_error)
        code = simhash(tokens)
        other = self._nearest(site, url, code)
        if url not in self._pages:
            self._add(site, url, code)
        return Copies(other, is_error)

    def _is_shared(self, site: str, url: str, content: int) -> bool:
        """Return True if a text stands under several addresses that differ in more than their query."""
        paths = self._paths.setdefault((site, content), set())
        self._paths.move_to_end((site, content))
        if len(paths) < SAME_TEXT:
            paths.add(_path(url))
        while len(self._paths) > self._max_pages:
            self._paths.popitem(last=False)
        return len(paths) >= SAME_TEXT

    def _nearest(self, site: str, url: str, code: int) -> str | None:
        alike = [
            other
            for band in _bands(site, code)
            for other in self._bands.get(band, ())
            if other != url and (self._pages[other][1] ^ code).bit_count() <= MAX_DISTANCE
        ]
        return min(alike, key=lambda other: (self._pages[other][1] ^ code).bit_count(), default=None)

    def _add(self, site: str, url: str, code: int) -> None:
        for band in _bands(site, code):
            urls = self._bands.setdefault(band, [])
            if len(urls) < _MAX_IN_BAND:
                urls.append(url)
        self._pages[url] = (site, code)
        while len(self._pages) > self._max_pages:
            old, (old_site, old_code) = self._pages.popitem(last=False)
            for band in _bands(old_site, old_code):
                left = [one for one in self._bands.get(band, ()) if one != old]
                self._bands[band] = left
                if not left:
                    del self._bands[band]


def simhash(tokens: Sequence[str]) -> int:
    """Return 64 bits that differ in few places for texts that differ in few words (Charikar, STOC 2002).

    Example:
        >>> words = [str(number) for number in range(200)]
        >>> (simhash(words) ^ simhash([*words, "more"])).bit_count() <= 3
        True
    """
    shingles = (" ".join(tokens[place : place + _SHINGLE]) for place in range(max(len(tokens) - _SHINGLE + 1, 1)))
    hashes = np.array([xxhash.xxh3_64_intdigest(one.encode("utf-8", "replace")) for one in shingles], "<u8")
    bits = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    ones = 2 * bits.sum(axis=0, dtype=np.int64) > len(hashes)
    return int.from_bytes(np.packbits(ones, bitorder="little").tobytes(), "little")


def _bands(site: str, code: int) -> list[tuple[str, int, int]]:
    mask = (1 << _BAND_BITS) - 1
    return [(site, band, code >> (band * _BAND_BITS) & mask) for band in range(_BANDS)]


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return url


logger = logging.getLogger(__name__)

BUSY_SECONDS = 10.0
_VERSION = 1
_SWEEP_EVERY = 500  # pages; so many more than the limit may be there
_SIGNED = 1 << 63


class PageHistory:
    """Remembers the fingerprint of each page by its URL, in a file that several processes may share.

    A file that cannot be used costs only the answers: they are None, and one warning names the file.

    Args:
        path: The file; it is made if it is missing.
        max_pages: So many pages are kept, those that were seen last.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     history, page = PageHistory(f"{folder}/seen.sqlite"), Fingerprint.of("A storm.", "A storm.")
        ...     print(history.see("https://a.example/", page), history.see("https://a.example/", page))
        ...     history.close()
        None True
    """

    def __init__(self, path: Path | str, max_pages: int = MAX_PAGES) -> None:
        self._path, self._max_pages = Path(path), max_pages
        self._seen = 0
        self._file: sqlite3.Connection | None = None
        self._usable = True

    def see(self, url: str, page: Fingerprint) -> bool | None:
        """Remember a page; return True if it says what it said when it was last seen, None if it never was."""
        if not self._usable:
            return None
        try:
            return self._see(self._opened(), hash64(url) - _SIGNED, page)
        except (sqlite3.Error, OSError) as error:
            self._usable = False
            logger.warning(
                "%s cannot be used (%s): this run does not tell which pages are unchanged. Free the file, or "
                "remove it to begin anew",
                printable(self._path),
                printable(error),
            )
            return None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _see(self, file: sqlite3.Connection, key: int, page: Fingerprint) -> bool | None:
        row = file.execute("SELECT fingerprint FROM pages WHERE key = ?", (key,)).fetchone()
        file.execute(
            "INSERT OR REPLACE INTO pages (seen, key, fingerprint) "
            "VALUES ((SELECT coalesce(max(seen), 0) + 1 FROM pages), ?, ?)",
            (key, page.to_bytes()),
        )
        if self._seen % _SWEEP_EVERY == 0:
            file.execute(
                "DELETE FROM pages WHERE seen <= (SELECT seen FROM pages ORDER BY seen DESC LIMIT 1 OFFSET ?)",
                (self._max_pages,),
            )
        self._seen += 1
        try:
            return None if row is None else page.says_the_same(Fingerprint.from_bytes(row[0]))
        except ValueError:  # a damaged row counts as never seen
            return None

    def _opened(self) -> sqlite3.Connection:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = OFF")
            if file.execute("PRAGMA user_version").fetchone()[0] not in (0, _VERSION):
                file.close()
                raise OSError("it was made by another version")
            file.execute(
                "CREATE TABLE IF NOT EXISTS pages (seen INTEGER PRIMARY KEY, key INTEGER UNIQUE, fingerprint BLOB)"
            )
            file.execute(f"PRAGMA user_version = {_VERSION}")
            self._file = file
            finalize(self, file.close)
        return self._file


class PageChanges(NamedTuple):
    """What is told of one page; ``unchanged`` is None for a page that was never seen, or without a history."""

    content_hash: str
    near_duplicate_of: str | None
    soft_404: bool
    unchanged: bool | None


class ChangeWatch:
    r"""Watches pages go by.

    Args:
        history: The file that remembers pages from one run to the next; None for none.
        max_pages: So many pages are remembered there.

    Example:
        >>> watch = ChangeWatch()
        >>> watch.see("a.example", "https://a.example/1", "", "A storm.", "Menu\nA storm.").content_hash
        'f43e7eaec66d88b7'
    """

    def __init__(self, history: Path | str | None = None, max_pages: int = MAX_PAGES) -> None:
        self._texts = SeenTexts()
        self._history = PageHistory(history, max_pages) if history else None

    def see(self, site: str, url: str, title: str, text: str, whole: str) -> PageChanges:
        """Remember a page with its clean text, and the ``whole`` text on it; return what is new of it."""
        page = Fingerprint.of(text, whole)
        copies = self._texts.see(site, url, title, text, page.content)
        unchanged = None if self._history is None else self._history.see(url, page)
        return PageChanges(page.content_hash, *copies, unchanged)
