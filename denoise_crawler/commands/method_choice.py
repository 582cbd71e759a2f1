"""What several commands share: a method and site rules, with the settings of a project; ``-o`` and ``-O``."""

from __future__ import annotations

import json
import os
import re
import sys
import uuid
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from scrapy.exceptions import UsageError
from scrapy.exporters import JsonLinesItemExporter
from scrapy.settings import BaseSettings

from denoise_crawler.batch import BatchResult
from denoise_crawler.commands.known_site import read_rules
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.settings_table import MethodSettings
from denoise_crawler.errors import OutputError, RulesError, SettingError
from denoise_crawler.output.safe_markup import write_below
from denoise_crawler.rules import SiteRules


def add_method_choice(parser: ArgumentParser) -> None:
    """Add ``--method`` and ``--option``."""
    parser.add_argument("--method", metavar="NAME", help="the method (default: the setting DENOISE_METHOD)")
    what = "an option of the method, may be repeated (default: the setting DENOISE_METHOD_OPTIONS)"
    parser.add_argument("--option", action="append", default=[], type=_option, metavar="NAME=VALUE", help=what)


def settings_with_method(
    arguments: Namespace, settings: BaseSettings, given: dict[str, object]
) -> DenoiseSettings:
    """Return the project's settings, overridden by the command line.

    Args:
        arguments: With ``method`` and ``option``, see :func:`add_method_choice`.
        settings: The settings of the project, which stay as they are.
        given: Further settings from the command line.

    Raises:
        UsageError: A setting is invalid.
    """
    settings = settings.copy()
    settings.setdict(given, priority="cmdline")
    try:
        _set_method(arguments, settings)
        return DenoiseSettings.from_settings(settings)
    except SettingError as error:
        raise UsageError(str(error), print_help=False) from None


def _set_method(arguments: Namespace, settings: BaseSettings) -> None:
    another = arguments.method not in (None, settings.get("DENOISE_METHOD", MethodSettings().method))
    if arguments.method is not None:
        settings.set("DENOISE_METHOD", arguments.method, priority="cmdline")
    if another or arguments.option:  # the options of the project belong to its own method
        known = {} if another else MethodSettings.read(settings).method_options
        settings.set("DENOISE_METHOD_OPTIONS", {**known, **dict(arguments.option)}, priority="cmdline")


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        raise ArgumentTypeError(f'{value!r} is not JSON, as 0.7, true or "text" are') from None


def rules_of(chosen: DenoiseSettings, arguments: Namespace) -> SiteRules:
    """Return the rules of DENOISE_SITE_RULES, ``--keep`` and ``--drop``; print what is wrong in files.

    Raises:
        UsageError: The setting names no folder, or a selector is wrong.
    """
    try:
        return read_rules(chosen.site_rules, arguments)
    except RulesError as error:
        raise UsageError(str(error), print_help=False) from None


def add_output(parser: ArgumentParser, metavar: str, adds: str, *, required: bool = True) -> None:
    """Add ``-o`` and ``-O``, of which one may be given.

    Args:
        parser: Takes them.
        metavar: What is named: FILE, DIR.
        adds: What ``-o`` does, for its help.
        required: Whether one of them must be given.
    """
    where = parser.add_mutually_exclusive_group(required=required)
    where.add_argument("-o", "--output", metavar=metavar, help=adds)
    where.add_argument("-O", "--overwrite-output", metavar=metavar, help="the same, overwriting what is there")


@contextmanager
def new_file(path: Path, *, replace: bool) -> Iterator[Path]:
    """Give the path of a file to write, which gets its name when the block ends; nothing is left if it raises.

    Raises:
        OutputError: It is a folder, or is there already and may not be replaced.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, new_file(Path(folder, "a.txt"), replace=False) as file:
        ...     _ = file.write_text("whole")
    """
    check_new_file(path, replace=replace)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{uuid.uuid4().hex}{path.suffix}")
    try:
        yield unfinished
        os.replace(unfinished, path)  # noqa: PTH105 - a link at `path` is replaced, too
    finally:
        with suppress(OSError):
            unfinished.unlink()


def check_new_file(path: Path, *, replace: bool) -> None:
    """Raise OutputError if ``path`` is a folder, or is there already and may not be replaced."""
    if path.is_dir():
        raise OutputError(f"{path} is a folder; name a file")
    if path.exists() and not replace:
        raise OutputError(f"{path} is there already; name another file, or overwrite it with -O")


# --- writes clean pages as JSON Lines or as a folder with one file per page

WritePage = Callable[[BatchResult], None]

STDOUT = "-"
_CONTROL = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSAFE = re.compile(r"[^\w.-]+")
_MAX_NAME = 60  # characters of four bytes at most: file systems take 255 bytes
# Names that Windows reserves for devices, with any suffix.
_DEVICE_NAME = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


def output_to(
    rendering: str, append: str | None, overwrite: str | None, *, inputs: Iterable[str]
) -> AbstractContextManager[WritePage]:
    """Check what ``-o`` and ``-O`` name; nothing changes on disk before the result is entered.

    Args:
        rendering: "jsonl", or the name of a rendering, which writes a file for each page.
        append: What ``-o`` names.
        overwrite: What ``-O`` names.
        inputs: The paths that are read.

    Returns:
        A context manager that gives the function that writes a page.

    Raises:
        OutputError: The output cannot be written there.
    """
    name = append if overwrite is None else overwrite
    if name is None and rendering != "jsonl":
        raise OutputError(f"name a folder with -o: --as {rendering} writes a file for each page")
    if name in (None, STDOUT):
        if rendering != "jsonl":
            what = f"--as {rendering} writes a file for each page"
            raise OutputError(f"{what}, which stdout cannot take; name a folder")
        return _stdout()
    path, replace = Path(str(name)), overwrite is not None
    for source in map(Path, inputs):
        if path.resolve() == source.resolve() or source.resolve() in path.resolve().parents:
            raise OutputError(f"{path} lies in what is read ({source}); name another place")
    if rendering == "jsonl":
        if path.is_dir():
            raise OutputError(f"{path} is a folder; name a file")
        return _json_lines(path, "wb" if replace else "ab")
    _check_folder(path, replace=replace)
    return _page_files(path, ".txt" if rendering == "text" else ".html")


def _check_folder(path: Path, *, replace: bool) -> None:
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is a file; name a folder")
    if path.is_dir() and not replace and any(path.iterdir()):
        raise OutputError(f"{path} is not empty; name another folder, or overwrite it with -O")


@contextmanager
def _json_lines(path: Path, mode: str) -> Iterator[WritePage]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as file:
        yield _line_writer(file)


@contextmanager
def _stdout() -> Iterator[WritePage]:
    file = sys.stdout.buffer
    yield _line_writer(_TerminalFile(file) if sys.stdout.isatty() else file)
    file.flush()


def _line_writer(file: Any) -> WritePage:
    """Return the function that writes a page as Scrapy's own exporter does."""
    exporter = JsonLinesItemExporter(file, encoding="utf-8")
    exporter.start_exporting()
    return lambda result: exporter.export_item(result.page)


class _TerminalFile:
    """JSON on its way to a terminal: control characters that JSON leaves alone are escaped."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, line: bytes) -> int:
        """Write ``line``, UTF-8."""
        return self._file.write(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", line.decode()).encode())


@contextmanager
def _page_files(folder: Path, suffix: str) -> Iterator[WritePage]:
    """Write ``SITE/NUMBER_NAME`` for each page, with its number among the pages read, so that no two are alike."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = count(1)

    def write(result: BatchResult) -> None:
        name = f"{next(numbers):06}{readable_name(result.page.url)}{suffix}"
        if result.rendered is not None:
            write_below(folder, f"{site_folder(result.page.site)}/{name}", result.rendered)

    yield write


def site_folder(site: str) -> str:
    """Return a safe folder name for a site.

    Example:
        >>> site_folder("example.com"), site_folder("con")
        ('example.com', '_con')
    """
    name = _UNSAFE.sub("_", site).strip("._")[:_MAX_NAME].rstrip(".") or "no-site"
    return f"_{name}" if _DEVICE_NAME.match(name) else name


def readable_name(url: str) -> str:
    """Return the path and query of a URL for use in a file name, empty if there are none.

    Example:
        >>> readable_name("https://example.com/news/1.html?page=2")
        '_news_1.html_page_2'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    name = _UNSAFE.sub("_", unquote(f"{parts.path}_{parts.query}")).strip("._-")[:_MAX_NAME].rstrip("._-")
    for suffix in (".html", ".htm", ".txt"):
        name = name.removesuffix(suffix)
    return f"_{name}" if name else ""
