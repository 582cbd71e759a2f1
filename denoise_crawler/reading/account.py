"""What reading is asked for and what it finds: pages, damage and what is skipped, by kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from denoise_crawler.page.text import printable

_MAX_EXAMPLES, _MAX_EXAMPLE_CHARACTERS = 3, 200


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of :func:`read_pages`."""

    base: str | None
    url_field: str
    html_field: str
    file_format: str | None


class DamageExample(NamedTuple):
    """One place of damage; ``offset`` is in bytes of the file, decompressed."""

    file: str
    offset: int
    what: str


@dataclass
class Reading:
    """What :func:`read_pages` has found so far.

    ``damage`` counts what is broken, by kind, with a few ``examples`` each. ``skipped`` counts what is intact but
    no page (pictures, error pages …). ``bytes_read`` is the progress in the files. ``made_up_url`` is the last
    address that was made up for a page without one.
    """

    pages: int = 0
    bytes_read: int = 0
    damage: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[DamageExample]] = field(default_factory=dict)
    made_up_url: str = ""


@dataclass(frozen=True, slots=True)
class Notes:
    """Where the reader of one file notes what it finds."""

    path: Path
    reading: Reading
    top: Path | None = None  # the folder that was given to be read, or the file's own

    def note_damage(self, kind: str, offset: int, what: str = "") -> None:
        """Count damage of a ``kind`` at ``offset``; ``what``, which may quote the file, is shortened."""
        self.reading.damage[kind] += 1
        examples = self.reading.examples.setdefault(kind, [])
        if len(examples) < _MAX_EXAMPLES:
            examples.append(DamageExample(str(self.path), offset, printable(what, _MAX_EXAMPLE_CHARACTERS)))

    def note_skipped(self, kind: str) -> None:
        """Count something that is no page; ``kind`` must not quote the file, so that kinds stay few."""
        self.reading.skipped[kind] += 1

    def placeholder_url(self, name: int | str) -> str:
        """Return a URL for a page without one, unique in the file."""
        return self.note_made_up(f"https://{quote(self.path.name, safe='')}/{quote(str(name), safe='')}")

    def note_made_up(self, url: str) -> str:
        """Note that the page that is read next has no address of its own, and is given this one."""
        self.reading.made_up_url = url
        return url
