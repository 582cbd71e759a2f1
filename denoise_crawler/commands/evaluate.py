"""``scrapy denoise evaluate``: compares methods on pages with gold text."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text
from scrapy.settings import BaseSettings

from denoise_crawler.commands.page_input import fail, help_text
from denoise_crawler.errors import BatchError, GoldError
from denoise_crawler.evaluation import (
    GRADES,
    HALVES,
    MIN_F1,
    VISIBLE_TEXT,
    Broken,
    Evaluation,
    evaluate,
    gold_sets,
    select,
)
from denoise_crawler.methods import METHODS
from denoise_crawler.options import add_number
from denoise_crawler.page.text import counted, printable

EPILOG = help_text(
    {
        "scrapy denoise evaluate gold.jsonl": "every method on your pages",
        "scrapy denoise evaluate gold.jsonl --methods fusion --half reporting": "one, on half of the sites",
    },
    "A gold set holds pages with the text a perfect extractor would give, one JSON object a line: site, html, "
    "gold and, where known, url and lang.",
    "Exit codes: 0 done, 1 nothing to evaluate or a file could not be written, 2 wrong usage, 130 interrupted.",
)
_WIDTH = 1_000  # no column is cut, however narrow the terminal is
_MAX_NAMED = 3


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    gold = "JSON lines (.jsonl, .gz or .xz), a folder of them, or a folder of HTML files"
    add("gold", nargs="+", type=Path, metavar="GOLD", help=gold)
    what = f"which of {', '.join(METHODS)} (all)"
    add("--methods", nargs="+", choices=list(METHODS), default=list(METHODS), metavar="NAME", help=what)
    add("--language", metavar="CODE", help="pages in one language alone, as zh")
    add("--half", choices=list(HALVES), help="one half of the sites alone: one to tune on, the other to report")
    add_number(parser, "--sites-with", 1, 1, "sites with N pages or more alone")
    add_number(parser, "--workers", 1, 1, "how many processes clean pages")
    add("--json", type=Path, metavar="FILE", help="write the figures to FILE as well")


def run(arguments: Namespace, settings: BaseSettings) -> int:  # noqa: ARG001
    """Print a table for each set; return 1 if there is nothing to evaluate or a file fails."""
    broken: list[Broken] = []
    try:
        evaluations = list(_evaluate(arguments, broken))
        if arguments.json is not None and evaluations:
            arguments.json.write_bytes(msgspec.json.encode(evaluations) + b"\n")
    except (BatchError, GoldError, OSError) as error:
        return fail(error)
    for name in dict.fromkeys(row.set for row in evaluations):
        _print_table(name, [row for row in evaluations if row.set == name])
    if broken:
        print(_describe(broken), file=sys.stderr)
    if not evaluations:
        print("No page was selected, so there is nothing to evaluate.", file=sys.stderr)
    return 0 if evaluations else 1


def _evaluate(arguments: Namespace, broken: list[Broken]) -> Iterator[Evaluation]:
    """Yield an evaluation for each set with pages and each method; add lines that are no pages to ``broken``."""
    language, of_half = arguments.language, HALVES.get(arguments.half)
    for name, pages in gold_sets(arguments.gold, broken.append).items():
        chosen = select(pages, language=language, of_half=of_half, at_least=arguments.sites_with)
        for method in (VISIBLE_TEXT, *arguments.methods) if chosen else ():
            yield evaluate(name, chosen, method, workers=arguments.workers)


def _print_table(name: str, rows: Sequence[Evaluation]) -> None:
    grades = [f"{grade} ≥ {least:g}" if least else grade for grade, least in zip(GRADES, MIN_F1, strict=True)]
    heads = ["", "words P", "R", "F1", "characters P", "R", "F1", *grades, "failed"]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(Text(head), justify="right" if place else "left", no_wrap=True)
    for row in rows:
        scores = (value for one in (row.words, row.characters) for value in (one.precision, one.recall, one.f1))
        shares = (f"{share:.1%}" for share in row.grades)
        cells = [row.method, *(f"{value:.3f}" for value in scores), *shares, str(row.failed or "")]
        table.add_row(*map(Text, cells))
    console = Console(width=_WIDTH)
    console.print(Text(f"{printable(name)}: {counted(rows[0].pages, 'page')} with gold text", style="bold"))
    console.print(table)


def _describe(broken: Sequence[Broken]) -> str:
    """Return a line that names the first lines of gold sets that were left out."""
    named = "; ".join(f"{line.file}, line {line.line}: {printable(line.why)}" for line in broken[:_MAX_NAMED])
    more = f"; and {len(broken) - _MAX_NAMED} more" if len(broken) > _MAX_NAMED else ""
    return f"Left out: {counted(len(broken), 'broken line')} ({named}{more})"
