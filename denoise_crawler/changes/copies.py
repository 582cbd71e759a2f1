"""Which pages of a site say nearly the same, and which are its error page under another address."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
import xxhash

from denoise_crawler.page.text import HAN, KANA

MAX_PAGES = 50_000  # remembered, of all sites together: those seen last
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

    def __init__(self, max_pages: int = MAX_PAGES) -> None:
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
