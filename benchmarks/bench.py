"""What the benchmarks share: the gold pages they read, the options they take, the tables they print."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import TYPE_CHECKING

from denoise_crawler.evaluation.gold import CORPUS_VARIABLE, corpus_folder
from denoise_crawler.site import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from denoise_crawler.evaluation.gold import GoldPage

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


def addressed(pages: Sequence[GoldPage]) -> list[tuple[str, str]]:
    """Return (url, html) of one site's ``pages``.

    Their own urls count if every page has one that belongs to the site; else all get ``https://SITE/ID``, so
    that the pages of a site stay together and their relative links mean the same on each.
    """
    own = all(page.url and site_of(page.url) == page.site for page in pages)
    return [((page.url if own else None) or f"https://{page.site}/{page.id}", page.html) for page in pages]


def say(line: str) -> None:
    """Write ``line`` to stderr: stdout is for tables."""
    print(line, file=sys.stderr, flush=True)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, its columns aligned: the first to the left, figures to the right."""
    lines = [list(heads), *map(list, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(
        "| " + " | ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) + " |"
        for line in (lines[0], ruler, *lines[1:])
    )


def write_figures(file: Path | None, figures: object) -> None:
    """Write ``figures`` to ``file`` as JSON, if one is given."""
    if file is not None:
        file.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
