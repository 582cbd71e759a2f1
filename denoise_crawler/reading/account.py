"""What reading met: pages, damage and what was passed over, by kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from pathlib import Path

_EXAMPLES = 3
_LONGEST_EXAMPLE = 200  # characters


class Example(NamedTuple):
    """One place of damage: ``offset`` counts bytes into the file, of a compressed one into what it holds."""

    file: str
    offset: int
    what: str


@dataclass
class Reading:
    """What :func:`read_pages` has met so far.

    ``damage`` counts what is broken, by kind, with a few ``examples`` of each; ``skipped`` counts what is
    whole and no page (pictures, error pages …). ``bytes_read`` is how far it is in the files.
    """

    pages: int = 0
    bytes_read: int = 0
    damage: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Example]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notes:
    """Where the reader of one file writes down what it meets."""

    path: Path
    reading: Reading

    def damaged(self, kind: str, offset: int, what: str = "") -> None:
        """Count damage of a ``kind`` at ``offset``; of ``what``, which may come from the file, little is kept."""
        self.reading.damage[kind] += 1
        examples = self.reading.examples.setdefault(kind, [])
        if len(examples) < _EXAMPLES:
            examples.append(Example(str(self.path), offset, printable(what, _LONGEST_EXAMPLE)))

    def skipped(self, kind: str) -> None:
        """Count something that is no page; ``kind`` is none of the file's own words, which have no end."""
        self.reading.skipped[kind] += 1

    def made_up_address(self, name: int | str) -> str:
        """Return an address for a page whose own is missing, unlike that of any other page of the file."""
        return f"https://{quote(self.path.name, safe='')}/{quote(str(name), safe='')}"
