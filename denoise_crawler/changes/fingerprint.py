"""The fingerprint of a page: what its text says, and what else stands on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.changes.stable_lines import stable_lines
from denoise_crawler.page.text import hash32, hash64

if TYPE_CHECKING:
    from typing_extensions import Self

MAX_LINES = 2_000  # of a page with more, only the hash is known
_HEADER = 12


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
    def of(cls, text: str, whole: str) -> Self:
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
        """Tell whether a page says what it said ``before``.

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
    def from_bytes(cls, data: bytes) -> Self:
        """Read a written fingerprint; raise ValueError if it is none."""
        count = int.from_bytes(data[8:_HEADER], "little")
        lines = np.frombuffer(data[_HEADER:], "<u4").tolist()
        if len(data) < _HEADER or count > len(lines):
            raise ValueError("no fingerprint of a page")
        return cls(int.from_bytes(data[:8], "little"), frozenset(lines[:count]), frozenset(lines[count:]))
