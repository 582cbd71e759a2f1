"""The fingerprint of a page: what its lines say, without what changes by itself, and what else stands on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from denoise_crawler.page.byline import AGO
from denoise_crawler.page.text import hash32, hash64

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
