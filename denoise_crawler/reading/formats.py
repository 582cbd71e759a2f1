"""The formats of files with pages: one row a format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from denoise_crawler.reading import html_file, json_lines, tianwang, warc
from denoise_crawler.reading.account import Notes, Reading, ReadOptions
from denoise_crawler.reading.compression import SUFFIXES, Window, windows

_HEAD_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        title: What messages call it.
        endings: The endings of the names of its files.
        recognize: Returns True if a file that starts with these bytes has the format.
        pages: Yields the pages of a file, given as windows without gaps, and notes what it finds.
        outweighs_name: Whether the content says more than the name of the file.
    """

    title: str
    endings: tuple[str, ...]
    recognize: Callable[[bytes], bool]
    pages: Callable[[Iterator[Window], Notes, ReadOptions], Iterator[tuple[str, str | bytes]]]
    outweighs_name: bool = False


# The first that recognizes a file is taken.
FORMATS = {
    "warc": Format("WARC", (".warc",), warc.recognize, warc.pages, outweighs_name=True),
    "tianwang": Format("Tianwang", (".tianwang", ".cwt"), tianwang.recognize, tianwang.pages),
    "jsonl": Format("JSON Lines", (".jsonl", ".jl", ".ndjson"), json_lines.recognize, json_lines.pages),
    "html": Format("HTML", (".html", ".htm", ".xhtml", ".shtml"), html_file.recognize, html_file.pages),
}
UNDERSTOOD = "a folder, {}; each also compressed ({})".format(
    ", ".join(f"{known.title} ({', '.join(known.endings)})" for known in FORMATS.values()), ", ".join(SUFFIXES)
)


def format_of(path: Path) -> Format | None:
    """Return the format of the file at ``path``, by its content and its name; None if it is unknown.

    Raises:
        OSError: The file cannot be read.
    """
    content = windows(Notes(path, Reading()))  # holds the file open
    head = next(content).peek(_HEAD_BYTES)
    name = path.name.lower()
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    known = FORMATS.values()
    surely = (one for one in known if one.outweighs_name and one.recognize(head))
    by_name = (one for one in known if name.endswith(one.endings))
    by_content = (one for one in known if one.recognize(head))
    return next(chain(surely, by_name, by_content), None)
