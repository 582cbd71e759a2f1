"""Words, hashes and clean-up of text."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from denoise_crawler.kernel.hashes import hash64 as hash64

HAN = "㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff"
KANA = "぀-ヿ"
_RUN = re.compile(rf"(?P<han>[{HAN}]+)|(?P<kana>[{KANA}])|[^\W_{HAN}{KANA}]+")
_HAN_OR_KANA = re.compile(f"[{HAN}{KANA}]")
_WORD = re.compile(r"[^\W_]+")
_UNSEEN = "\xad\u200b\u200c\u200d\u2060\ufeff"  # the soft hyphen, joiners and marks of no width
# Letters of scripts whose words need no joiners, and no mark where a line may break
_PLAIN = r"[0-9A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\u1e00-\u1fff]"
_INVISIBLE = re.compile(rf"\xad+|(?<={_PLAIN})[{_UNSEEN[1:]}]+(?={_PLAIN})")
_NO_LETTERS = re.compile(r"[\W_]+")
_NO_ASCII_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
_MAX_CACHED_CHARACTERS = 400
_MAX_SEGMENTED_CHARACTERS = 400  # jieba's time grows with the square of a run of unknown words


def collapse_spaces(text: str) -> str:
    """Turn every run of white space into one space and strip both ends."""
    return " ".join(text.split())


def one_line(text: str) -> str:
    r"""Return a text as one line, without what is not to be seen or could steer a terminal.

    Example:
        >>> one_line("  Sea\xadport\x1b\ncranes ")
        'Seaport� cranes'
    """
    if (line := " ".join(text.split())).isprintable():  # as most are
        return line
    return without_controls(collapse_spaces(without_lone_surrogates(visible(text))))


def letters(text: str) -> str:
    """Return the letters and digits of ``text`` in lower case.

    Example:
        >>> letters("The Ellery Post, No. 7")
        'theellerypostno7'
    """
    if text.isascii():  # this is five times faster
        return text.lower().encode().translate(None, _NO_ASCII_LETTERS).decode()
    return _NO_LETTERS.sub("", text.casefold())


def visible(text: str) -> str:
    r"""Return a text without invisible characters inside its words.

    Example:
        >>> visible("Unter\xadnehmen"), visible("sea\u200bport"), visible("می\u200cخواهم") == "می\u200cخواهم"
        ('Unternehmen', 'seaport', True)
    """
    return _INVISIBLE.sub("", text) if invisible_in(text) else text


def invisible_in(text: str) -> list[str]:
    """Return the characters of a text that nobody sees."""
    return [] if text.isascii() else [sign for sign in _UNSEEN if sign in text]


def printable(text: object, most: int = 1_000) -> str:
    r"""Make ``text`` safe to show in a terminal or a log: one line, no control characters.

    Everything that comes from a page, an archive, a header or a URL passes through here before it is shown.

    Args:
        text: What to show.
        most: The most characters to return.

    Example:
        >>> printable("Story\x1b[2J"), printable("abcdef", most=4)
        ('Story�[2J', 'abc…')
    """
    full = str(text)
    shown = full if len(full) <= most else f"{full[: most - 1]}…"
    return shown if shown.isprintable() else "".join(one if one.isprintable() else "\ufffd" for one in shown)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Example:
        >>> counted(1, "page"), counted(2_000, "site")
        ('1 page', '2,000 sites')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def without_lone_surrogates(text: str) -> str:
    """Replace each lone surrogate, which no file and no store can hold, by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_controls(text: str) -> str:
    r"""Replace each control character (C0 and C1), which could steer a terminal, by U+FFFD.

    Example:
        >>> without_controls("Story\x1b[2J\x9b")
        'Story�[2J�'
    """
    return text if text.isprintable() else _CONTROLS.sub("\ufffd", text)


def words(text: str) -> list[str]:
    """Return the words of ``text`` in order, in lower case.

    jieba segments Chinese, each kana is a word, everything else is a run of Unicode word characters. Short texts
    are cached, since menus and bylines recur on other pages.

    Example:
        >>> words("The Harbour, 2011")
        ['the', 'harbour', '2011']
    """
    if len(text) <= _MAX_CACHED_CHARACTERS:
        return list(_cached_words(text))
    return list(_split(text))


@lru_cache(maxsize=16_384)
def _cached_words(text: str) -> tuple[str, ...]:
    return tuple(_split(text))


def _split(text: str) -> Iterable[str]:
    small = text.lower()
    if text.isascii() or _HAN_OR_KANA.search(small) is None:
        return _WORD.findall(small)
    return _split_runs(small)


def _split_runs(small: str) -> Iterator[str]:
    for match in _RUN.finditer(small):
        if match.lastgroup == "han":
            run = match.group()
            for start in range(0, len(run), _MAX_SEGMENTED_CHARACTERS):
                yield from _chinese_segmenter().cut(run[start : start + _MAX_SEGMENTED_CHARACTERS])
        else:
            yield match.group()


def load_dictionary() -> None:
    """Load what :func:`words` needs for Chinese, so that the first Chinese text need not wait for it."""
    _chinese_segmenter().initialize()


@lru_cache(maxsize=1)
def _chinese_segmenter() -> Any:
    """Load jieba, which takes half a second and 59 MB, for the first Chinese text."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's source has invalid escape sequences
        import jieba

    jieba.setLogLevel(logging.WARNING)
    segmenter = jieba.Tokenizer()
    segmenter.tmp_dir = _private_cache_folder()
    return segmenter


def _private_cache_folder() -> str:
    """Return a folder that only the user can write to, since jieba unmarshals its cache."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "denoise_crawler"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        from tempfile import mkdtemp

        return mkdtemp(prefix="denoise_crawler-")
    return str(folder)
