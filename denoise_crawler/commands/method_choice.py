"""The settings of a command, with the method and its options that the command line chooses over them."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.errors import SettingError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from scrapy.settings import BaseSettings


def add_method_choice(parser: ArgumentParser) -> None:
    """Add ``--method`` and ``--option``."""
    parser.add_argument("--method", metavar="NAME", help="the method (default: the setting DENOISE_METHOD)")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=_option,
        metavar="NAME=VALUE",
        help="an option of the method, may be repeated (default: the setting DENOISE_METHOD_OPTIONS)",
    )


def settings_with_method(
    arguments: Namespace, settings: BaseSettings, given: dict[str, object]
) -> DenoiseSettings:
    """Return the project's settings with those ``given`` and the method that the command line names.

    Raises UsageError for one that cannot be used.
    """
    settings = settings.copy()
    settings.setdict(given, priority="cmdline")
    try:
        _set_method(arguments, settings)
        return DenoiseSettings.from_settings(settings)
    except (SettingError, TypeError, ValueError) as error:
        raise UsageError(str(error), print_help=False) from None


def _set_method(arguments: Namespace, settings: BaseSettings) -> None:
    another = arguments.method is not None and arguments.method != settings.get("DENOISE_METHOD")
    if arguments.method is not None:
        settings.set("DENOISE_METHOD", arguments.method, priority="cmdline")
    if another or arguments.option:  # the options of the project are those of its own method
        known = {} if another else settings.getdict("DENOISE_METHOD_OPTIONS")
        settings.set("DENOISE_METHOD_OPTIONS", {**known, **dict(arguments.option)}, priority="cmdline")


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        raise ArgumentTypeError(f'{value!r} is not JSON, as 0.7, true or "text" are') from None
