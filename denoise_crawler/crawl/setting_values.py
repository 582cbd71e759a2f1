"""Checks single values of settings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from denoise_crawler.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence


def read_seconds(name: str, value: object, *, maximum: float = math.inf, allowed: str = "0 or more") -> float:
    """Return the value of a setting as seconds.

    Args:
        name: The setting.
        value: Its value.
        maximum: The highest value allowed.
        allowed: What the message says about the allowed values.

    Returns:
        The seconds, 0 or more.

    Raises:
        SettingError: The value is no finite number, or out of range.

    Example:
        >>> read_seconds("DENOISE_DELAY_MIN", "2.5")
        2.5
    """
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        seconds = math.nan
    if not (0 <= seconds <= maximum and math.isfinite(seconds)):
        raise SettingError(f"{name} is {value!r}: set it to a number of seconds, {allowed}")
    return seconds


def read_choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Return the value of a setting that names one of ``choices``; raise SettingError for any other value.

    Example:
        >>> read_choice("DENOISE_SHORT_SITES", "raw", ("clean", "raw", "drop"))
        'raw'
    """
    if not isinstance(value, str) or value not in choices:
        raise SettingError(f"{name} is {value!r}: set it to one of {', '.join(choices)}")
    return value
