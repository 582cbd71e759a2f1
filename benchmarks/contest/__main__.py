"""Compares methods and other extractors on pages with gold text: ``python -m benchmarks.contest gold.jsonl``."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from benchmarks.contest.contest import Evaluation, Selection
from benchmarks.contest.tables import figures, main_tables, markdown, notes, site_table
from benchmarks.contest.terminal import (
    add_choices,
    contenders,
    count,
    evaluate_with_progress,
    print_tables,
)
from denoise_crawler.errors import GoldError
from denoise_crawler.evaluation import HALVES, Broken, gold_sets

_FORMS = {"json": figures, "markdown": markdown}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    gold = "JSON lines (.jsonl, .gz or .xz), a folder of them, or a folder of HTML files"
    add("gold", nargs="+", type=Path, metavar="GOLD", help=gold)
    add_choices(parser)
    add("--language", metavar="CODE", help="pages in one language alone, as zh")
    add("--half", choices=list(HALVES), help="one half of the sites alone: one to tune on, the other to report")
    add("--sites-with", type=count, default=1, metavar="N", help="sites with N pages or more alone")
    add("--by-site", action="store_true", help="print the F1 of each site as well")
    for form in _FORMS:
        add(f"--{form}", type=Path, metavar="FILE", help=f"write FILE in {form} as well")


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables and write the files; return 1 if there is nothing to evaluate or a file fails."""
    parser = ArgumentParser(prog="python -m benchmarks.contest", description=__doc__)
    add_arguments(parser)
    arguments = parser.parse_args(words)
    try:
        _check_output_files(arguments)  # before hours of work
        evaluation = _evaluate(arguments)
        if evaluation.pages:
            _print_and_write(evaluation, arguments)
    except (GoldError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for note in notes(evaluation):
        print(note, file=sys.stderr)
    if not evaluation.pages:
        print("No page was selected, so there is nothing to evaluate.", file=sys.stderr)
    return 0 if evaluation.pages else 1


def _check_output_files(arguments: Namespace) -> None:
    """Raise OSError if an output file is a folder or has none."""
    for file in filter(None, (getattr(arguments, form) for form in _FORMS)):
        if file.is_dir():
            raise OSError(f"{file} is a folder; name a file")
        if not file.parent.is_dir():
            raise OSError(f"{file} cannot be written: there is no folder {file.parent}")


def _evaluate(arguments: Namespace) -> Evaluation:
    broken: list[Broken] = []
    sets = gold_sets(arguments.gold, broken.append)
    chosen = contenders(arguments.methods, arguments.peers, arguments.extractors, arguments.after)
    selection = Selection(arguments.language, HALVES.get(arguments.half), arguments.sites_with)
    evaluation = evaluate_with_progress(sets, chosen, selection=selection, workers=arguments.workers)
    evaluation.broken = broken
    return evaluation


def _print_and_write(evaluation: Evaluation, arguments: Namespace) -> None:
    sites = [site_table(evaluation, name) for name in evaluation.sets] if arguments.by_site else []
    print_tables([*main_tables(evaluation), *sites])
    for form, written in _FORMS.items():
        file: Path | None = getattr(arguments, form)
        if file is not None:
            file.write_text(written(evaluation), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
