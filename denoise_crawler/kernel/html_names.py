"""Names of elements by how they are read, and quotation marks by language, as CLDR has them: ``elements.txt``."""

from __future__ import annotations

from pathlib import Path

_LINES = [line.split() for line in Path(__file__).with_name("elements.txt").read_text("utf-8").splitlines()]


def _names(kind: str) -> frozenset[str]:
    return frozenset(name for line in _LINES if line[0] == kind for name in line[1:])


TEXT = "#text"
# Text and elements inside a line; every other element starts and ends a line.
INLINE = _names("inline") | {TEXT}
# Others stand inside a line where text goes on around them: those that HTML does not know, "picture", "output" …
KNOWN = INLINE | _names("block") | _names("formula")
# What is read by its name elsewhere: formulas, pictures and films of AMP pages
READ_BY_NAME = ("amp-", "lite-", "math", "mjx-")
PARAGRAPHS = _names("paragraph")
URL_ATTRIBUTES = _names("address")
QUOTES = {language: (line[0][0], line[0][1]) for line in _LINES if len(line[0]) == 2 for language in line[1:]}
