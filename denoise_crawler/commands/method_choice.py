"""The settings of a command, whose method the command line may override."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.settings_table import MethodSettings
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
    """Return the project's settings, overridden by the command line.

    Args:
        arguments: With ``method`` and ``option``, see :func:`add_method_choice`.
        settings: The settings of the project, which stay as they are.
        given: Further settings from the command line.

    Raises:
        UsageError: A setting is invalid.

    """
    settings = settings.copy()
    settings.setdict(given, priority="cmdline")
    try:
        _set_method(arguments, settings)
        return DenoiseSettings.from_settings(settings)
    except SettingError as error:
        raise UsageError(str(error), print_help=False) from None


def _set_method(arguments: Namespace, settings: BaseSettings) -> None:
    another = arguments.method not in (None, settings.get("DENOISE_METHOD", MethodSettings().method))
    if arguments.method is not None:
        settings.set("DENOISE_METHOD", arguments.method, priority="cmdline")
    if another or arguments.option:  # the options of the project belong to its own method
        known = {} if another else MethodSettings.read(settings).method_options
        settings.set("DENOISE_METHOD_OPTIONS", {**known, **dict(arguments.option)}, priority="cmdline")


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        raise ArgumentTypeError(f'{value!r} is not JSON, as 0.7, true or "text" are') from None
