"""What several commands share: a method and site rules, with the settings of a project; ``-o`` and ``-O``."""

from __future__ import annotations

import json
import os
import uuid
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from denoise_crawler.commands.known_site import read_rules
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.settings_table import MethodSettings
from denoise_crawler.errors import OutputError, RulesError, SettingError
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


@contextmanager
def new_file(path: Path, *, replace: bool) -> Iterator[Path]:
    """Give the path of a file to write, which gets its name when the block ends; nothing is left if it raises.

    Raises:
        OutputError: It is a folder, or is there already and may not be replaced.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, new_file(Path(folder, "a.txt"), replace=False) as file:
        ...     _ = file.write_text("whole")
    """
    check_new_file(path, replace=replace)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{uuid.uuid4().hex}{path.suffix}")
    try:
        yield unfinished
        os.replace(unfinished, path)  # noqa: PTH105 - a link at `path` is replaced, too
    finally:
        with suppress(OSError):
            unfinished.unlink()


def check_new_file(path: Path, *, replace: bool) -> None:
    """Raise OutputError if ``path`` is a folder, or is there already and may not be replaced."""
    if path.is_dir():
        raise OutputError(f"{path} is a folder; name a file")
    if path.exists() and not replace:
        raise OutputError(f"{path} is there already; name another file, or overwrite it with -O")
