"""The ``scrapy denoise`` command, which runs a subcommand."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, ClassVar, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from denoise_crawler.errors import MissingExtraError, needs

WRONG_USAGE, INTERRUPTED = 2, 130
# Each is a module with ``add_arguments(parser)``, ``run(arguments, settings)``, which returns the exit code, and
# ``EPILOG``, the end of its help. It is imported when it runs: Scrapy loads this module for each of its commands.
SUBCOMMANDS: dict[str, str] = {
    "clean": "clean pages on disk: folders of HTML, WARC, JSON Lines, Tianwang",
    "tree": "draw the site style tree of pages on disk, of a crawl, or of two pages",
    "explain": "show why each block of a page was kept or dropped",
    "report": "write a static site that shows sites, style trees and pages, and why blocks were kept or dropped",
    "evaluate": "compare methods on pages with gold text",
}


class DenoiseCommand(ScrapyCommand):
    """Works on pages on disk, with the settings of the project if there is one."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return how the command is called."""
        return f"[options] {{{','.join(SUBCOMMANDS)}}} ..."

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Remove the noise of pages on disk; measure methods"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add Scrapy's options and the subcommands with theirs."""
        super().add_options(parser)
        vars(parser)["error"] = _usage_error("scrapy denoise")
        parser.epilog = 'Use "scrapy denoise SUBCOMMAND -h" for the options of a subcommand.'
        choices = parser.add_subparsers(
            title="Subcommands",
            dest="subcommand",
            metavar="SUBCOMMAND",
            prog="scrapy denoise",
            parser_class=_SubcommandParser,
        )
        for name, what in SUBCOMMANDS.items():
            choices.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Apply the settings given before and after the subcommand."""
        opts.set = [*opts.set, *getattr(opts, "set_after", [])]
        super().process_options(args, opts)

    def run(self, args: list[str], opts: Namespace) -> None:
        """Run the subcommand."""
        if opts.subcommand is None:
            raise UsageError(f"name what to do: {', '.join(SUBCOMMANDS)}", print_help=False)
        if args:
            raise UsageError(f"{opts.subcommand} does not know: {' '.join(args)}", print_help=False)
        try:
            self.exitcode = _import_subcommand(opts.subcommand).run(opts, self.settings)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            self.exitcode = INTERRUPTED
        except MissingExtraError as error:
            sys.exit(f"scrapy denoise {opts.subcommand}: {error}")


class _SubcommandParser(ArgumentParser):
    """Adds its arguments on first use, so that other subcommands are never imported."""

    _complete = False

    def __init__(self, **given: Any) -> None:
        super().__init__(formatter_class=RawDescriptionHelpFormatter, **given)

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        _usage_error(self.prog)(f"{message}; {self.prog} -h tells more")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        if not self._complete:
            self._complete = True
            subcommand = _import_subcommand(self.prog.split()[-1])
            self.epilog = subcommand.EPILOG
            subcommand.add_arguments(self)
            what = "set/override setting (may be repeated)"
            self.add_argument(
                "-s", "--set", dest="set_after", action="append", default=[], metavar="NAME=VALUE", help=what
            )
        return super().parse_known_args(args, namespace)


def _usage_error(name: str) -> Callable[[str], NoReturn]:
    """Return the function that reports a usage error: it prints one line and exits with 2."""

    def error(message: str) -> NoReturn:
        print(f"{name}: {message}", file=sys.stderr)
        sys.exit(WRONG_USAGE)

    return error


def _import_subcommand(subcommand: str) -> Any:
    """Return the module of a subcommand; exit with one line if a package is not installed."""
    try:
        with needs("commands"):
            return import_module(f"{__package__}.{subcommand}")
    except MissingExtraError as error:
        sys.exit(f"scrapy denoise {subcommand}: {error}")
