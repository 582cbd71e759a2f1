"""Command line options for whole numbers."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable


def whole_number(least: int) -> Callable[[str], int]:
    """Return an argparse type for whole numbers of at least ``least``.

    Example:
        >>> whole_number(1)("20")
        20

    """

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ArgumentTypeError(f"{text!r} is not a whole number, {least} or more")
        return int(text)

    return number


def add_number(parser: ArgumentParser, option: str, least: int, default: int, what: str) -> None:
    """Add an option for a whole number of at least ``least``; its help ends in the default."""
    parser.add_argument(
        option, type=whole_number(least), default=default, metavar="N", help=f"{what} (%(default)s)"
    )
