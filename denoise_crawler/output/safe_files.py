"""Writes files below a folder that a user named, never through a link, which may lead anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.errors import LinkedOutputError

if TYPE_CHECKING:
    from pathlib import Path


def write_below(folder: Path, name: str, text: str) -> None:
    """Write a file; lone surrogates become ``?``.

    Args:
        folder: The folder.
        name: The file's path in it, at most one folder deep.
        text: The content.

    Raises:
        LinkedOutputError: The path contains a link or leads out of ``folder``.

    """
    file = folder / name
    if (file.parent != folder and file.parent.parent != folder) or ".." in file.parts[len(folder.parts) :]:
        raise LinkedOutputError(f"{file} does not lie in {folder}")
    for place in (file.parent, file):
        if place != folder and place.is_symlink():
            raise LinkedOutputError(f"{place} is a link, which is not followed: remove it or name another folder")
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8", errors="replace", newline="\n")
