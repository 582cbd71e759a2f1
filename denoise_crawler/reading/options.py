"""What a caller of :func:`read_pages` says of the files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of :func:`read_pages`."""

    base: str | None
    url_field: str
    html_field: str
    file_format: str | None
