"""What the benchmarks share: the gold pages they read, the options they take, the tables they print."""

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable
from pathlib import Path

from lxml import etree

from benchmarks.contest.tables import table
from denoise_crawler.evaluation import CORPUS_VARIABLE, Score, addressed, corpus_folder, score

__all__ = ["addressed", "folder_with", "options", "parse_with_lxml", "say", "table", "write_figures"]

NO_CORPUS = 2


def options(description: str | None) -> ArgumentParser:
    """Return a parser with the options that all benchmarks have."""
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE as well")
    return parser


def folder_with(sets: Iterable[str]) -> Path:
    """Return the corpus folder; without one that has all ``sets``, say what to set and leave with code 2."""
    files = [f"{name}.jsonl.xz" for name in sets]
    folder = corpus_folder()
    if folder is None or not all((folder / file).is_file() for file in files):
        say(f"Set {CORPUS_VARIABLE} to a folder of gold pages that has {', '.join(files)}; nothing was measured.")
        sys.exit(NO_CORPUS)
    return folder


def parse_with_lxml(source: bytes) -> object:
    """Parse a page with lxml alone: the unit that costs are compared to."""
    return etree.fromstring(source, etree.HTMLParser(encoding="utf-8", huge_tree=True))


def say(line: str) -> None:
    """Write ``line`` to stderr: stdout is for tables."""
    print(line, file=sys.stderr, flush=True)


def write_figures(file: Path | None, figures: object) -> None:
    """Write ``figures`` to ``file`` as JSON, if one is given."""
    if file is not None:
        file.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def best_score(extracted: str, answers: Iterable[str]) -> Score:
    """Compare a text with several that are right, and return the best score."""
    return max((score(extracted, one) for one in answers), key=lambda one: one.f1)
