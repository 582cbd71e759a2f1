"""``-o`` and ``-O``, which mean the same in every command that writes: add to what is there, or overwrite it."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from denoise_crawler.errors import OutputError

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator


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

    Args:
        path: The name.
        replace: Whether it may be there already.

    Raises:
        OutputError: It is a folder, or is there already.

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
