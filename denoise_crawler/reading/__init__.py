"""Reads pages from disk: folders of HTML, WARC, JSON Lines, Tianwang. Tolerant of damage, and streaming."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from denoise_crawler.errors import SourceError
from denoise_crawler.reading import archive_formats
from denoise_crawler.reading.archive_formats import FORMATS, UNDERSTOOD, format_of
from denoise_crawler.reading.compression import DamageExample, Notes, Reading, ReadOptions, windows

__all__ = ["FORMATS", "DamageExample", "Reading", "SourceError", "read_pages", "total_bytes"]


def read_pages(
    paths: str | Path | Iterable[str | Path],
    *,
    reading: Reading | None = None,
    base: str | None = None,
    url_field: str = "url",
    html_field: str = "html",
    file_format: str | None = None,
) -> Iterator[tuple[str, str | bytes]]:
    """Read the pages in files and folders.

    Damage never raises: it is counted in ``reading``, and everything readable is yielded. At most one record of a
    file (64 MB) is in memory.

    Args:
        paths: Files and folders.
        reading: Counts pages and damage.
        base: The URL before the path of an HTML file; without it the URL is ``https://FIRST-FOLDER/REST``.
        url_field: The field of JSON Lines with the URL.
        html_field: The field of JSON Lines with the HTML.
        file_format: The format of all files, a key of :data:`FORMATS`; else found from content and name.

    Yields:
        Each page as (URL, HTML), in the order given; the files of a folder by name.

    Raises:
        SourceError: A path is missing or of no known format. Raised at once.
    """
    if file_format is not None and file_format not in FORMATS:
        raise SourceError(f"unknown format {file_format!r}; the formats are {', '.join(FORMATS)}")
    chosen = [Path(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
    options = ReadOptions(base, url_field, html_field, file_format)
    for path in chosen:
        _check_path(path, options)
    return _read_paths(chosen, Reading() if reading is None else reading, options)


def total_bytes(paths: Iterable[str | Path]) -> int:
    """Return the size of all files in ``paths``: the final :attr:`Reading.bytes_read`."""
    files = (file for path in map(Path, paths) for file in _files(path, Reading()))
    return sum(file.stat().st_size for file in files if file.is_file())


def _files(path: Path, reading: Reading) -> Iterable[Path]:
    return archive_formats.files(path, reading) if path.is_dir() else [path]


def _check_path(path: Path, options: ReadOptions) -> None:
    try:
        if not path.exists():
            raise SourceError(f"{path} is not there")
        if path.is_dir():
            return
        if not path.is_file():
            raise SourceError(f"{path} is no regular file; what is understood: {UNDERSTOOD}")
        if options.file_format is None and format_of(path) is None:
            raise SourceError(f"{path} is of no known format; what is understood: {UNDERSTOOD}")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from None


def _read_paths(paths: list[Path], reading: Reading, options: ReadOptions) -> Iterator[tuple[str, str | bytes]]:
    for path in paths:
        top = path if path.is_dir() else path.parent
        for file in _files(path, reading):
            for page in _pages_of_file(Notes(file, reading, top), options):
                reading.pages += 1
                yield page


def _pages_of_file(notes: Notes, options: ReadOptions) -> Iterator[tuple[str, str | bytes]]:
    try:
        if not notes.path.is_file():
            notes.note_damage("unreadable file", 0, "no regular file, or a link to nowhere")
            return
        known = FORMATS[options.file_format] if options.file_format else format_of(notes.path)
        if known is None:
            notes.note_skipped("other file")
            return
        yield from known.pages(windows(notes), notes, options)
    except OSError as error:
        notes.note_damage("unreadable file", 0, error.strerror or str(error))
    except Exception as error:  # a bad file must not stop the files after it
        notes.note_damage("unreadable file", 0, f"{type(error).__name__}: {error}")
