"""What several commands share: a method and site rules, with the settings of a project; ``-o`` and ``-O``."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from denoise_crawler.commands.known_site import read_rules
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.settings_table import MethodSettings
from denoise_crawler.errors import RulesError, SettingError
from denoise_crawler.rules import SiteRules


def add_method_choice(parser: ArgumentParser) -> None:
    """Add ``--method`` and ``--option``."""
    parser.add_argument("--method", metavar="NAME", help="the method (default: the setting DENOISE_METHOD)")
    what = "an option of the method, may be repeated (default: the setting DENOISE_METHOD_OPTIONS)"
    parser.add_argument("--option", action="append", default=[], type=_option, metavar="NAME=VALUE", help=what)


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


def rules_of(chosen: DenoiseSettings, arguments: Namespace) -> SiteRules:
    """Return the rules of DENOISE_SITE_RULES, ``--keep`` and ``--drop``; print what is wrong in files.

    Raises:
        UsageError: The setting names no folder, or a selector is wrong.
    """
    try:
        return read_rules(chosen.site_rules, arguments)
    except RulesError as error:
        raise UsageError(str(error), print_help=False) from None


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
