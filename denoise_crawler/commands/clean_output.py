"""Where clean pages go: lines of JSON, or a folder with a file a page; either may be continued."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from scrapy.exporters import JsonLinesItemExporter

from denoise_crawler.batch import BatchResult
from denoise_crawler.batch.worker import site_by
from denoise_crawler.errors import OutputError
from denoise_crawler.output.safe_markup import write_below
from denoise_crawler.page.text import hash64, without_lone_surrogates

STDOUT = "-"
LINES = "jsonl"
ENDINGS = {"text": ".txt", "markdown": ".md"}  # of the forms of the text; all other renderings are HTML
_CONTROL = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSAFE = re.compile(r"[^\w.-]+")
_MAX_NAME_BYTES = 200  # file systems take 255 for a name, with its ending
# Names that Windows reserves for devices, with any suffix.
_DEVICE_NAME = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Output:
    """Where pages go.

    Attributes:
        holds: Returns True if the page at an address was written by an earlier run; None if there was none. To be
            called for each page in the order of reading, also for those at one address.
        write: Writes a page that it does not hold, in the same order; nothing if the page is dropped.
    """

    holds: Callable[[str], bool] | None
    write: Callable[[BatchResult], None]


@dataclass(frozen=True, slots=True)
class Target:
    """What the command line says of the output.

    Attributes:
        rendering: "jsonl", a form of :data:`ENDINGS` or a rendering; all but the first write a file for each page.
        append: What ``-o`` names.
        overwrite: What ``-O`` names.
        resume: Whether pages that are there are passed over; None where a command cannot.
    """

    rendering: str
    append: str | None
    overwrite: str | None
    resume: bool | None = None

    def open(self, inputs: Iterable[str], site: Callable[[str], str]) -> AbstractContextManager[Output]:
        """Check the output; nothing changes on disk before the result is entered.

        Args:
            inputs: The paths that are read.
            site: Returns the site of a URL, for the folders.

        Raises:
            OutputError: The output cannot be written there.

        """
        name = self.append if self.overwrite is None else self.overwrite
        if name in (None, STDOUT):
            self._check_stdout(name)
            return _stdout()
        path = Path(str(name))
        for source in map(Path, inputs):
            if path.resolve() == source.resolve() or source.resolve() in path.resolve().parents:
                raise OutputError(f"{path} lies in what is read ({source}); name another place")
        if self.rendering != LINES:
            self._check_folder(path)
            return _page_files(path, self.rendering, site, resume=bool(self.resume))
        if path.is_dir():
            raise OutputError(f"{path} is a folder; name a file")
        if self.resume and path.exists():
            return _json_lines(path, *_read_lines(path))
        return _json_lines(path, Counter(), 0 if self.overwrite is not None else None)

    def _check_stdout(self, name: str | None) -> None:
        what = f"--as {self.rendering} writes a file for each page"
        if self.rendering != LINES and name is None:
            raise OutputError(f"name a folder with -o: {what}")
        if self.rendering != LINES:
            raise OutputError(f"{what}, which stdout cannot take; name a folder")
        if self.resume:
            raise OutputError("--resume goes on with what an earlier run wrote: name it with -o")

    def _check_folder(self, path: Path) -> None:
        if path.exists() and not path.is_dir():
            raise OutputError(f"{path} is a file; name a folder")
        if path.is_dir() and not self.resume and self.overwrite is None and any(path.iterdir()):
            more = "" if self.resume is None else ", or go on with it by --resume"
            raise OutputError(f"{path} is not empty; name another folder, or overwrite it with -O{more}")


# --- lines


def _read_lines(path: Path) -> tuple[Counter[int], int]:
    """Return how often a file of pages has each address (as hash), and the size of its whole lines."""
    written, size = Counter[int](), 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n") and line.startswith(b"{"):
                break  # the process was killed while it wrote this line
            try:
                written[hash64(json.loads(line)["url"])] += 1
            except (KeyError, TypeError, ValueError):
                raise OutputError(f"{path} is no output of this command, so it cannot be continued") from None
            size += len(line)
    return written, size


@contextmanager
def _json_lines(path: Path, written: Counter[int], size: int | None) -> Iterator[Output]:
    """Write behind the first ``size`` bytes of a file, which hold the pages ``written``; None for all of it."""

    def holds(url: str) -> bool:
        address = hash64(without_lone_surrogates(url))
        is_written = written[address] > 0
        written[address] -= is_written
        return is_written

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if size is not None:
            file.truncate(size)
        yield Output(holds if written else None, _line_writer(file))


@contextmanager
def _stdout() -> Iterator[Output]:
    file = sys.stdout.buffer
    yield Output(None, _line_writer(_TerminalFile(file) if sys.stdout.isatty() else file))
    file.flush()


def _line_writer(file: Any) -> Callable[[BatchResult], None]:
    """Return the function that writes a page as Scrapy's own exporter does."""
    exporter = JsonLinesItemExporter(file, encoding="utf-8")
    exporter.start_exporting()

    def write(result: BatchResult) -> None:
        if not result.dropped:
            exporter.export_item(result.page)

    return write


class _TerminalFile:
    """JSON on its way to a terminal: control characters that JSON leaves alone are escaped."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, line: bytes) -> int:
        """Write ``line``, UTF-8."""
        return self._file.write(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", line.decode()).encode())


# --- files


@contextmanager
def _page_files(folder: Path, rendering: str, site: Callable[[str], str], *, resume: bool) -> Iterator[Output]:
    names, waiting = FileNames(ENDINGS.get(rendering, ".html")), deque[str]()

    def holds(url: str) -> bool:
        name = names.new(site_by(site, url), url)
        if (folder / name).exists():
            return True
        waiting.append(name)
        return False

    def write(result: BatchResult) -> None:
        page = result.page
        name = waiting.popleft() if resume else names.new(page.site, page.url)
        text = page.text if rendering in ENDINGS else result.rendered
        if not (result.dropped or result.failure or text is None):
            write_below(folder, name, str(text))

    folder.mkdir(parents=True, exist_ok=True)
    yield Output(holds if resume else None, write)


class FileNames:
    """Names of files made of addresses, for the same addresses the same ones in each run.

    Example:
        >>> names = FileNames(".md")
        >>> names.new("a.test", "https://a.test/news/1.html"), names.new("a.test", "https://a.test/news/1")
        ('a.test/news_1.md', 'a.test/news_1~2.md')
    """

    def __init__(self, ending: str) -> None:
        self._ending = ending
        self._uses: Counter[int] = Counter()  # of each name, as hash

    def new(self, site: str, url: str) -> str:
        """Return ``SITE/PATH-OF-THE-URL``, with a number behind it from the second page on that would have it."""
        name = f"{site_folder(site)}/{readable_name(url)}"
        key = hash64(name.casefold())  # file systems may not tell capitals apart
        self._uses[key] += 1
        number = f"~{self._uses[key]}" if self._uses[key] > 1 else ""
        return f"{name}{number}{self._ending}"


def site_folder(site: str) -> str:
    """Return a safe folder name for a site.

    Example:
        >>> site_folder("example.com"), site_folder("con")
        ('example.com', '_con')

    """
    return _safe_name(site) or "no-site"


def readable_name(url: str) -> str:
    """Return the path and query of a URL for use as the name of a file.

    Example:
        >>> readable_name("https://example.com/news/1.html?page=2"), readable_name("https://example.com/")
        ('news_1.html_page_2', 'index')

    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    name = _UNSAFE.sub("_", unquote(f"{parts.path}_{parts.query}")).strip("._-")
    for suffix in (".html", ".htm", ".txt"):
        name = name.removesuffix(suffix)
    return _safe_name(name) or "index"


def _safe_name(text: str) -> str:
    name = _UNSAFE.sub("_", text).strip("._-").encode("utf-8", "replace")[:_MAX_NAME_BYTES]
    short = name.decode("utf-8", "ignore").rstrip("._-")
    return f"_{short}" if _DEVICE_NAME.match(short) else short
