"""Reading pages from disk: folders of HTML, WARC, JSON Lines, Tianwang. Tolerant and streaming."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from denoise_crawler.errors import SourceError
from denoise_crawler.reading import folder, json_lines, tianwang, warc
from denoise_crawler.reading.account import Example, Notes, Reading
from denoise_crawler.reading.compression import windows
from denoise_crawler.reading.formats import FORMATS, format_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["FORMATS", "Example", "Reading", "SourceError", "read_pages", "total_bytes"]

_UNDERSTOOD = (
    "a folder, an HTML file, WARC (.warc), JSON Lines (.jsonl, .jl, .ndjson) or Tianwang (.tianwang, .cwt, "
    "or known by its version: line), each also compressed (.gz, .xz, .bz2)"
)


@dataclass(frozen=True, slots=True)
class _Options:
    base: str | None
    url_field: str
    html_field: str
    file_format: str | None


def read_pages(
    paths: str | Path | Iterable[str | Path],
    *,
    reading: Reading | None = None,
    base: str | None = None,
    url_field: str = "url",
    html_field: str = "html",
    file_format: str | None = None,
) -> Iterator[tuple[str, str | bytes]]:
    """Yield the pages in files and folders, as (url, html), in the order given; a folder's files by name.

    What a file holds is seen from its content and name; ``file_format`` (a key of :data:`FORMATS`) says it
    for all. ``base`` is the address that the path of an HTML file is added to (else
    ``https://FIRST-FOLDER/REST``), ``url_field`` and ``html_field`` name the fields of JSON Lines. Of a file
    no more than a record is held at a time (64 MB at most).

    Bad data never raises: it is counted and named in ``reading``, and all that can be read is yielded. Raises
    :class:`SourceError`, at once, for a path that is not there or of no known format.
    """
    if file_format is not None and file_format not in FORMATS:
        raise SourceError(f"unknown format {file_format!r}; the formats are {', '.join(FORMATS)}")
    chosen = [Path(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
    options = _Options(base, url_field, html_field, file_format)
    for path in chosen:
        _check(path, options)
    return _pages(chosen, Reading() if reading is None else reading, options)


def total_bytes(paths: Iterable[str | Path]) -> int:
    """Return the size of all files in ``paths``: what :attr:`Reading.bytes_read` comes to in the end."""
    reading = Reading()
    files = (
        file for path in map(Path, paths) for file in (folder.files(path, reading) if path.is_dir() else [path])
    )
    return sum(file.stat().st_size for file in files if file.is_file())


def _check(path: Path, options: _Options) -> None:
    try:
        if not path.exists():
            raise SourceError(f"{path} is not there")
        if path.is_dir():
            return
        if not path.is_file():
            raise SourceError(f"{path} is no regular file; what is understood: {_UNDERSTOOD}")
        if options.file_format is None and format_of(path) is None:
            raise SourceError(f"{path} is of no known format; what is understood: {_UNDERSTOOD}")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from None


def _pages(paths: list[Path], reading: Reading, options: _Options) -> Iterator[tuple[str, str | bytes]]:
    for path in paths:
        top = path if path.is_dir() else path.parent
        for file in folder.files(path, reading) if path.is_dir() else [path]:
            for page in _pages_of_file(file, top, Notes(file, reading), options):
                reading.pages += 1
                yield page


def _pages_of_file(file: Path, top: Path, notes: Notes, options: _Options) -> Iterator[tuple[str, str | bytes]]:
    try:
        if not file.is_file():
            notes.damaged("unreadable file", 0, "no regular file, or a link to nowhere")
            return
        found = options.file_format or format_of(file)
        if found is None:
            notes.skipped("other file")
            return
        for window in windows(notes):
            if found == "html":
                html = folder.page(window, notes)
                if html is not None:
                    yield folder.address(file, top, options.base), html
                return
            if found == "jsonl":
                yield from json_lines.pages(
                    window, notes, url_field=options.url_field, html_field=options.html_field
                )
            else:
                yield from (warc if found == "warc" else tianwang).pages(window, notes)
    except OSError as error:
        notes.damaged("unreadable file", 0, error.strerror or str(error))
    except Exception as error:  # no file may cost those behind it
        notes.damaged("unreadable file", 0, f"{type(error).__name__}: {error}")
