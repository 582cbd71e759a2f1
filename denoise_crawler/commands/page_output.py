"""Where clean pages are written: JSON Lines as a Scrapy feed, or a folder with a file a page."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

from scrapy.exporters import JsonLinesItemExporter

from denoise_crawler.errors import OutputError
from denoise_crawler.output.folder import write_below

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from typing_extensions import Self

    from denoise_crawler.batch import BatchResult

STDOUT = "-"
_STEERING = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSAFE = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 60  # characters of four bytes at most: file systems take 255 bytes
# Names that Windows keeps for devices, whatever their ending.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


class Output(Protocol):
    """Takes clean pages, between entering and leaving it."""

    def __enter__(self) -> Self:
        """Open it."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""

    def write(self, result: BatchResult) -> None:
        """Write one page."""


def output_to(rendering: str, append: str | None, overwrite: str | None, *, inputs: Iterable[str]) -> Output:
    """Return the output that ``-o`` (append) and ``-O`` (overwrite) name; raise :class:`OutputError`.

    Nothing is changed on disk before it is entered.
    """
    if append is not None and overwrite is not None:
        raise OutputError("give -o or -O, not both")
    name = append if overwrite is None else overwrite
    if name is None and rendering != "jsonl":
        raise OutputError(f"name a folder with -o: --as {rendering} writes a file for each page")
    if name in (None, STDOUT):
        if rendering != "jsonl":
            raise OutputError(
                f"--as {rendering} writes a file for each page, which stdout cannot take; name a folder"
            )
        return JsonLines(None)
    path = Path(str(name))
    for source in map(Path, inputs):
        if path.resolve() == source.resolve() or source.resolve() in path.resolve().parents:
            raise OutputError(f"{path} lies in what is read ({source}); name another place")
    if rendering == "jsonl":
        return JsonLines(path, overwrite=overwrite is not None)
    return Folder(path, ".txt" if rendering == "text" else ".html", overwrite=overwrite is not None)


class JsonLines:
    """One JSON object a line, written by Scrapy's own exporter; ``path`` None is stdout."""

    def __init__(self, path: Path | None, *, overwrite: bool = False) -> None:
        if path is not None and path.is_dir():
            raise OutputError(f"{path} is a folder; name a file")
        self._path, self._overwrite = path, overwrite
        self._file: Any = _ForTerminal(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer
        self._exporter: JsonLinesItemExporter | None = None

    def __enter__(self) -> Self:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("wb" if self._overwrite else "ab")
        self._exporter = JsonLinesItemExporter(self._file, encoding="utf-8")
        self._exporter.start_exporting()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path is None:
            self._file.flush()
        else:
            self._file.close()

    def write(self, result: BatchResult) -> None:
        """Write one page as a line."""
        assert self._exporter is not None  # noqa: S101
        self._exporter.export_item(result.page)


class _ForTerminal:
    """JSON on its way to a terminal: what would steer that and JSON does not escape by itself is escaped."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, line: bytes) -> int:
        """Write ``line``, UTF-8."""
        return self._file.write(_STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", line.decode()).encode())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class Folder:
    """A file a page: ``SITE/NUMBER_NAME``, with the page's number in what was read, so that no two are alike."""

    def __init__(self, path: Path, ending: str, *, overwrite: bool = False) -> None:
        if path.exists() and not path.is_dir():
            raise OutputError(f"{path} is a file; name a folder")
        if path.is_dir() and not overwrite and any(path.iterdir()):
            raise OutputError(f"{path} is not empty; name another folder, or overwrite it with -O")
        self._path, self._ending = path, ending
        self._number = 0

    def __enter__(self) -> Self:
        self._path.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """There is nothing to close."""

    def write(self, result: BatchResult) -> None:
        """Write one page as a file; a page whose rendering failed has none."""
        self._number += 1
        if result.rendered is None:
            return
        file = f"{self._number:06}{readable_name(result.page.url)}{self._ending}"
        write_below(self._path, f"{site_folder(result.page.site)}/{file}", result.rendered)


def site_folder(site: str) -> str:
    """Return a safe folder name for a site."""
    name = _UNSAFE.sub("_", site).strip("._")[:_LONGEST_NAME].rstrip(".") or "no-site"
    return f"_{name}" if _DEVICE.match(name) else name


def readable_name(url: str) -> str:
    """Return the path and query of an address as an ending for a file's name, empty if there are none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    name = _UNSAFE.sub("_", unquote(f"{parts.path}_{parts.query}")).strip("._-")[:_LONGEST_NAME].rstrip("._-")
    for ending in (".html", ".htm", ".txt"):
        name = name.removesuffix(ending)
    return f"_{name}" if name else ""
