"""The kinds of values that settings take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from denoise_crawler.errors import SettingError
from denoise_crawler.output.clean_page import CleanPage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """What a setting can be set to.

    Attributes:
        values: The allowed values, in words that go on from "set it to".
        parse: Returns the value that is used; raises OverflowError, TypeError or ValueError if it is wrong.
    """

    values: str
    parse: Callable[[Any], T]

    def check(self, name: str, value: object) -> T:
        """Return the value that the crawl uses.

        Args:
            name: The setting.
            value: Its value.

        Raises:
            SettingError: The value is wrong. The message names the setting, the value and the allowed values.

        Example:
            >>> SECONDS.check("DENOISE_DELAY_MIN", "2.5")
            2.5
        """
        try:
            return self.parse(value)
        except _UnusableError as error:
            reason = f", {error}"
        except (OverflowError, TypeError, ValueError):
            reason = ""
        raise SettingError(f"{name} is {value!r}{reason}: set it to {self.values}")


class _UnusableError(ValueError):
    """A wrong value of which there is more to say."""


def one_of(names: Iterable[str]) -> Kind[str]:
    """Return the kind of a choice."""
    known = tuple(names)
    return Kind(f"one of {', '.join(known)}", lambda value: known[known.index(value)])


def optional(kind: Kind[T], otherwise: str) -> Kind[T | None]:
    """Return a kind that allows None as well; ``otherwise`` says what None stands for."""
    words = f"{kind.values}, or to None for {otherwise}"
    return Kind(words, lambda value: None if value is None else kind.parse(value))


def whole_number(least: float = -math.inf) -> Kind[int]:
    """Return the kind of whole numbers from ``least`` up."""

    def parse(value: Any) -> int:
        number = int(value)
        return _require(number, number >= least and (not isinstance(value, float) or value == number))

    return Kind("a whole number" + (f", {least} or more" if least > -math.inf else ""), parse)


def number(words: str, most: float = math.inf) -> Kind[float]:
    """Return the kind of finite numbers from 0 to ``most``, which ``words`` describe."""

    def parse(value: Any) -> float:
        number = float(value)
        return _require(number, 0 <= number <= most and number < math.inf)

    return Kind(words, parse)


def _parse_dict(value: Any) -> dict[str, object]:
    return dict(BaseSettings({"": value}).getdict(""))


def _parse_fields(value: Any) -> dict[str, str]:
    found = dict[str, str]()
    for name, to in _parse_dict(value).items():
        if name not in _PAGE_FIELDS:
            raise _UnusableError(f"which names {name!r}")
        if not isinstance(to, str) or not to:
            raise _UnusableError(f"which has {to!r} for {name!r}")
        found[name] = to
    return found


def _parse_classes(value: Any) -> tuple[type, ...]:
    return tuple(_load(path, "class", lambda found: isinstance(found, type)) for path in _parse_list(value))


def _load(path: Any, what: str, is_right: Callable[[Any], bool]) -> Any:
    try:
        found = load_object(path)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise _UnusableError(f"where {path!r} cannot be loaded ({error})") from None
    if not is_right(found):
        raise _UnusableError(f"where {path!r} is no {what}")
    return found


def _parse_list(value: Any) -> list[Any]:
    return BaseSettings({"": value}).getlist("")


def _parse_ports(value: Any) -> tuple[int, ...]:
    found = tuple(map(int, [value] if isinstance(value, int) else _parse_list(value)))
    in_order = len(found) in (1, 2) and list(found) == sorted(found)
    return _require(found, in_order and all(0 <= port < 65_536 for port in found))


def _parse_local_folder(value: Any) -> str:
    path = str(value) if isinstance(value, str | Path) else ""
    if path and not Path(path).is_dir():
        raise _UnusableError("which is no folder")
    return _require(path, value == "" or bool(path))


def _require(value: T, is_right: bool) -> T:
    if not is_right:
        raise ValueError
    return value


_PAGE_FIELDS = CleanPage.__dataclass_fields__
FLAG = Kind("True or False", lambda value: BaseSettings({"": value}).getbool(""))
SECONDS = number("a number of seconds, 0 or more")
SECONDS_OR_NO_LIMIT = number("a number of seconds, 0 for no limit")
SHARE = number("a number from 0 to 1", 1.0)
TEXT = Kind("a text", lambda value: _require(str(value), isinstance(value, str) and value != ""))
DICT = Kind("a dict (on the command line as JSON)", _parse_dict)
FIELD_NAME = Kind(
    "the name of an item field", lambda value: _require(str(value), isinstance(value, str) and value != "")
)
PAGE_FIELDS = Kind(f"a dict from any of {', '.join(_PAGE_FIELDS)} to the name of an item field", _parse_fields)
ITEM_CLASSES = Kind("a list of item classes or their import paths", _parse_classes)
SITE_FUNCTION = Kind(
    "a function from a URL to a site's name, or its import path",
    lambda value: cast("Callable[[str], str]", _load(value, "function", callable)),
)
FILE = Kind("the path of a file", Path)
LOCAL_FOLDER = Kind("a folder that is there", _parse_local_folder)
FOLDER = Kind("a folder or an address (s3://…)", lambda value: _require(str(value), isinstance(value, str | Path)))
PORTS = Kind("a port, or to a list of the first and the last port to try", _parse_ports)
