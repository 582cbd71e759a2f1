"""Types for argparse."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
