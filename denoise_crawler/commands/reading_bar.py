"""A progress bar over pages that are read from disk, on stderr, where that is a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from denoise_crawler.reading import total_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from denoise_crawler.reading import Reading

_Page = TypeVar("_Page")


@contextmanager
def reading_bar(
    read: Callable[[], Iterator[_Page]],
    reading: Callable[[], Reading],
    paths: Iterable[str | Path],
    names: Iterable[str],
    console: Console | None = None,
) -> Iterator[Callable[[], Iterator[_Page]]]:
    """Give the function that reads the pages: on a terminal, each of its readings moves a bar with the next name.

    ``reading`` gives the account of the reading that is under way, ``paths`` are what is read.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield read
        return
    total, name = total_bytes(paths), iter(names)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %  {task.fields[pages]:,} pages"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:

        def watched() -> Iterator[_Page]:
            task = progress.add_task(next(name), total=total, pages=0)
            for number, page in enumerate(read(), 1):
                progress.update(task, completed=reading().bytes_read, pages=number)
                yield page
            progress.update(task, completed=total)

        yield watched
