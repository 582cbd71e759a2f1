"""Tables of options: a field carries its setting, its option on the command line, its help, default and check."""

from __future__ import annotations

import json
import math
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from denoise_crawler.errors import SettingError

if TYPE_CHECKING:
    from typing_extensions import Self


T = TypeVar("T")

_ROW_KEY = "option"


@dataclass(frozen=True, slots=True)
class OptionType(Generic[T]):
    """What an option can be set to.

    Attributes:
        values: The allowed values, in words that go on from "set it to".
        parse: Returns the value that is used; raises OverflowError, TypeError or ValueError if it is wrong. What a
            UnusableError says is told to the user.
        choices: The allowed values, where they can be listed.
    """

    values: str
    parse: Callable[[Any], T]
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: object) -> T:
        """Return the value of the setting ``name`` that is used.

        Raises:
            SettingError: The value is wrong. The message names the setting, the value and the allowed values.

        Example:
            >>> SECONDS.check("DENOISE_DELAY_MIN", "2.5")
            2.5
        """
        try:
            return self.parse(value)
        except UnusableError as error:
            reason = f", {error}"
        except (OverflowError, TypeError, ValueError):
            reason = ""
        raise SettingError(f"{name} is {value!r}{reason}: set it to {self.values}")

    def of_word(self, word: str) -> T:
        """Return the value of a word on the command line; raise ArgumentTypeError if it is wrong."""
        try:
            return self.parse(word)
        except (OverflowError, TypeError, ValueError):
            raise ArgumentTypeError(f"{word!r} is wrong: give {self.values}") from None


class UnusableError(ValueError):
    """A wrong value of which there is more to say."""


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    """An option: the name of its setting, its default, what it can be set to, its help on the command line.

    With ``empty_is_default`` an empty value, such as ``-s DENOISE_FORM=``, stands for the default.
    """

    name: str
    default: object
    kind: OptionType[T]
    help: str = ""
    empty_is_default: bool = False

    def read(self, settings: Mapping[Any, Any], default: object = None) -> T:
        """Return the value that is used; a ``default`` that is not None replaces that of the table.

        Raises:
            SettingError: The value is wrong.
        """
        value = settings.get(self.name)
        if value is None or (self.empty_is_default and not value):
            value = self.default if default is None else default
        return self.kind.check(self.name, value)


def option(
    name: str,
    default: object,
    kind: OptionType[T],
    help: str = "",  # noqa: A002
    *,
    empty_is_default: bool = False,
) -> T:
    """Return a dataclass field that is an :class:`Option` with these arguments."""
    row = Option(name, default, kind, help, empty_is_default)
    return field(default_factory=lambda: row.read({}), hash=kind is not DICT, metadata={_ROW_KEY: row})


@dataclass(frozen=True, slots=True)
class OptionTable:
    """Options that belong together, a field for each. The docstring of a table introduces them to users."""

    @classmethod
    def options(cls) -> dict[str, Option[Any]]:
        """Return the options of the table by the names of their fields."""
        return {field.name: field.metadata[_ROW_KEY] for field in fields(cls) if _ROW_KEY in field.metadata}

    @classmethod
    def read(
        cls, settings: Mapping[Any, Any], defaults: Mapping[str, object] | None = None, **others: object
    ) -> Self:
        """Read and check the settings of the table.

        Args:
            settings: The settings of a crawl.
            defaults: By field, what replaces a default of the table unless it is None.
            others: The fields of the table that are no settings.

        Raises:
            SettingError: A value is wrong; the message names the first such setting.
        """
        better = defaults or {}
        values = {name: row.read(settings, better.get(name)) for name, row in cls.options().items()}
        return cls(**values, **others)

    def check_values(self) -> None:
        """Check all options, as :meth:`read` does; raise SettingError."""
        for name, row in self.options().items():
            row.kind.check(row.name, getattr(self, name))

    @classmethod
    def add_to(cls, parser: ArgumentParser, *names: str, over_settings: bool = False) -> None:
        """Add options of the command line for these fields: ``--more-metadata`` for ``more_metadata``.

        Args:
            parser: Takes them.
            names: The fields.
            over_settings: Whether the settings of a project hold for what is not given.
        """
        for name in names:
            row, flag = cls.options()[name], f"--{name.replace('_', '-')}"
            default = None if over_settings else row.default
            if row.kind is FLAG:
                parser.add_argument(flag, action="store_true", default=default, help=row.help)
                continue
            otherwise = f"the setting {row.name}" if over_settings else row.default
            words = row.help if otherwise is None else f"{row.help} (default: {otherwise})"
            if row.kind.choices:
                parser.add_argument(flag, choices=row.kind.choices, default=default, help=words)
            else:
                parser.add_argument(flag, type=row.kind.of_word, metavar="N", default=default, help=words)

    @classmethod
    def given(cls, arguments: Namespace) -> dict[str, Any]:
        """Return by field what the command line says."""
        chosen = {name: getattr(arguments, name, None) for name in cls.options()}
        return {name: value for name, value in chosen.items() if value is not None}


def one_of(names: Iterable[str]) -> OptionType[str]:
    """Return the kind of a choice."""
    known = tuple(names)
    return OptionType(f"one of {', '.join(known)}", lambda value: known[known.index(value)], known)


def optional(kind: OptionType[T], otherwise: str) -> OptionType[T | None]:
    """Return a kind that allows None as well; ``otherwise`` says what None stands for."""
    words = f"{kind.values}, or to None for {otherwise}"
    return OptionType(words, lambda value: None if value is None else kind.parse(value), kind.choices)


def whole_number(least: float = -math.inf) -> OptionType[int]:
    """Return the kind of whole numbers from ``least`` up."""

    def parse(value: Any) -> int:
        number = int(value)
        return require(number, number >= least and (not isinstance(value, float) or value == number))

    return OptionType("a whole number" + (f", {least} or more" if least > -math.inf else ""), parse)


def number(words: str, most: float = math.inf) -> OptionType[float]:
    """Return the kind of finite numbers from 0 to ``most``, which ``words`` describe."""

    def parse(value: Any) -> float:
        number = float(value)
        return require(number, 0 <= number <= most and number < math.inf)

    return OptionType(words, parse)


def require(value: T, is_right: bool) -> T:
    """Return ``value``; raise ValueError if it is not right."""
    if not is_right:
        raise ValueError
    return value


def parse_dict(value: Any) -> dict[str, object]:
    """Return a dict that may be written as JSON."""
    return dict(json.loads(value) if isinstance(value, str) else value)


_SWITCH = {"True": True, "true": True, "False": False, "false": False}
FLAG = OptionType("True or False", lambda value: _SWITCH[value] if value in _SWITCH else bool(int(value)))
SECONDS = number("a number of seconds, 0 or more")
SECONDS_OR_NO_LIMIT = number("a number of seconds, 0 for no limit")
SHARE = number("a number from 0 to 1", 1.0)
TEXT = OptionType("a text", lambda value: require(str(value), isinstance(value, str) and value != ""))
DICT = OptionType("a dict (on the command line as JSON)", parse_dict)


def add_number(parser: ArgumentParser, option: str, least: int, default: int, what: str) -> None:
    """Add an option for a whole number of at least ``least``; its help ends in the default."""
    of_word, words = whole_number(least).of_word, f"{what} (%(default)s)"
    parser.add_argument(option, type=of_word, default=default, metavar="N", help=words)
