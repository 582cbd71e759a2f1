"""The pages on disk that a command reads: options, a progress bar, what was damaged; the end of its help."""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentTypeError
from contextlib import contextmanager
from textwrap import fill
from typing import TYPE_CHECKING, TypeVar

from denoise_crawler.options import whole_number
from denoise_crawler.output.writing import FORMS
from denoise_crawler.page.text import counted, printable
from denoise_crawler.reading import FORMATS, Reading, read_pages, total_bytes

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from rich.console import Console

    from denoise_crawler.crawl.settings import DenoiseSettings

_Page = TypeVar("_Page")

DONE, FAILED, INTERRUPTED = 0, 1, 130  # exit codes


def add_reading_options(parser: ArgumentParser) -> None:
    """Add ``--format``, ``--base``, ``--url-field`` and ``--html-field``."""
    add = parser.add_argument
    read = "the format of the files that are read (default: seen from each)"
    add("--format", type=_file_format, metavar="NAME", help=f"{read}: {', '.join(FORMATS)}")
    add("--base", metavar="URL", help="address of the folder of HTML files (default: https://FIRST-FOLDER/)")
    add("--url-field", metavar="NAME", help="field of JSON Lines (default: the setting DENOISE_URL_FIELD)")
    add("--html-field", metavar="NAME", help="field of JSON Lines (default: the setting DENOISE_HTML_FIELD)")


def _file_format(name: str) -> str:
    if name in FORMATS:
        return name
    form = f"; the form of what is written is --form {name}" if name in FORMS else ""
    raise ArgumentTypeError(f"{name!r} is no format of files that are read: {', '.join(FORMATS)}{form}")


def add_workers(parser: ArgumentParser) -> None:
    """Add ``--workers``."""
    many = "number of processes (default: one a core)"
    parser.add_argument("--workers", type=whole_number(1).of_word, metavar="N", help=many)


def read_named_pages(
    paths: Sequence[str | Path], arguments: Namespace, settings: DenoiseSettings, reading: Reading
) -> Iterator[tuple[str, str | bytes]]:
    """Return the (url, html) of the pages in ``paths``, read as the options and settings say.

    Raises:
        SourceError: A path cannot be read.
    """
    return read_pages(
        paths,
        reading=reading,
        base=arguments.base,
        url_field=arguments.url_field or settings.url_field,
        html_field=arguments.html_field or settings.html_field,
        file_format=arguments.format,
    )


@contextmanager
def reading_bar(
    read: Callable[[], Iterator[_Page]],
    reading: Callable[[], Reading],
    paths: Iterable[str | Path],
    names: Iterable[str],
    console: Console | None = None,
    *,
    seconds: float = 15.0,
) -> Iterator[Callable[[], Iterator[_Page]]]:
    """Show a progress bar for each reading of the pages; where stderr is no terminal, a line now and then.

    Args:
        read: Reads the pages.
        reading: Returns the account of the current reading.
        paths: What is read.
        names: What each reading is for.
        console: Where the bar goes; stderr if not given.
        seconds: The time between two lines.

    Yields:
        A function that reads the pages and moves the bar.
    """
    from rich.console import Console  # an extra brings it, and `denoise-crawler` does without
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = console or Console(stderr=True)
    total, name = total_bytes(paths), iter(names)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %  {task.fields[pages]:,} pages"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:

        def read_and_show() -> Iterator[_Page]:
            printed, what = time.monotonic(), next(name)
            task = progress.add_task(what, total=total, pages=0)
            for number, page in enumerate(read(), 1):
                progress.update(task, completed=reading().bytes_read, pages=number)
                yield page
                if not console.is_terminal and time.monotonic() - printed >= seconds:
                    printed, share = time.monotonic(), reading().bytes_read / (total or 1)
                    console.print(f"{what}: {counted(number, 'page')}, {share:.0%}", markup=False)
            progress.update(task, completed=total)

        yield read_and_show


def list_counts(counts: Counter[str]) -> str:
    """Return counts in a line, the largest first."""
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())


@contextmanager
def report_failure(url: str, what: str) -> Iterator[None]:
    """Print an error that a page raises and go on: it costs no other page."""
    try:
        yield
    except Exception as error:
        print(printable(f"{url} cannot be {what}: {type(error).__name__}: {error}"), file=sys.stderr)


def fail(error: object) -> int:
    """Print an error and return the exit code."""
    print(printable(error), file=sys.stderr)
    return FAILED


def discard_stdout() -> None:
    """Drop all further output: the reader has closed the pipe, and Python would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_WIDTH = 100


def help_text(examples: dict[str, str], *notes: str) -> str:
    """Return the end of a command's help: examples, each with what it does, and paragraphs."""
    lines = [f"  {command}\n      {what}" for command, what in examples.items()]
    return "\n".join(["examples:", *lines, *(f"\n{fill(note, _WIDTH)}" for note in notes)])
