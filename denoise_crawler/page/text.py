"""Words, normalised text and hashes: what the rest compares pages by; text that a terminal may show."""

from __future__ import annotations

import logging
import os
import re
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterator

HAN = "㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff"
KANA = "぀-ヿ"
_RUN = re.compile(rf"(?P<han>[{HAN}]+)|(?P<kana>[{KANA}])|[^\W_{HAN}{KANA}]+")
_CACHED_CHARACTERS = 400
_CUT_AT_ONCE = 400  # jieba's time grows with the square of a run of words that it does not know


def normalised(text: str) -> str:
    """Return ``text`` with every run of white space as one space, and none at its ends."""
    return " ".join(text.split())


def printable(text: object, most: int = 1_000) -> str:
    """Return ``text`` in a line for a terminal or a log: without what would steer it, ``most`` characters long.

    All that a page, an archive, a header or an address says goes through here before it is shown.
    """
    said = str(text)
    shown = said if len(said) <= most else f"{said[: most - 1]}…"
    return shown if shown.isprintable() else "".join(one if one.isprintable() else "\ufffd" for one in shown)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Example:
        >>> counted(1, "page"), counted(2_000, "site")
        ('1 page', '2,000 sites')

    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def without_lone_surrogates(text: str) -> str:
    """Return ``text`` with U+FFFD for each half of a surrogate pair, which no file and no store can hold."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def hash64(text: str) -> int:
    """Return a 64-bit hash (XXH3) that is the same in every process."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def hash32(text: str) -> int:
    """Return the low half of :func:`hash64`."""
    return hash64(text) & 0xFFFFFFFF


def words(text: str) -> list[str]:
    """Return the words of ``text`` in order, lower-cased.

    Chinese is segmented by jieba, kana count one by one, everything else is a run of Unicode word
    characters. Texts short enough to be furniture (menus, bylines) are remembered, since they come back.
    """
    if len(text) <= _CACHED_CHARACTERS:
        return list(_remembered_words(text))
    return list(_split(text))


@lru_cache(maxsize=16_384)
def _remembered_words(text: str) -> tuple[str, ...]:
    return tuple(_split(text))


def _split(text: str) -> Iterator[str]:
    for match in _RUN.finditer(text.lower()):
        if match.lastgroup == "han":
            run = match.group()
            for start in range(0, len(run), _CUT_AT_ONCE):
                yield from _chinese_segmenter().cut(run[start : start + _CUT_AT_ONCE])
        else:
            yield match.group()


@lru_cache(maxsize=1)
def _chinese_segmenter() -> Any:
    """Load jieba (half a second, 59 MB) when the first Chinese text comes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # compiling jieba's source warns of its escape sequences
        import jieba

    jieba.setLogLevel(logging.WARNING)
    segmenter = jieba.Tokenizer()
    segmenter.tmp_dir = _private_cache_folder()
    return segmenter


def _private_cache_folder() -> str:
    """Return a folder of the user's own: jieba unmarshals its cache, which must not lie where others write."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "denoise_crawler"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return tempfile.mkdtemp(prefix="denoise_crawler-")
    return str(folder)
