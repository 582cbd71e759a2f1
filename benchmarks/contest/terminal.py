"""An evaluation in the terminal: options that choose contenders, a progress bar on stderr, tables on stdout."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from rich.text import Text

from benchmarks.contest.contenders import (
    PEERS,
    Contender,
    extractor_after,
    extractor_alone,
    method,
    visible_text,
)
from benchmarks.contest.contest import Evaluation, Selection, evaluate
from benchmarks.contest.tables import Table
from denoise_crawler.evaluation import GoldPage
from denoise_crawler.methods import DEFAULT_METHOD, METHODS
from denoise_crawler.options import whole_number
from denoise_crawler.output.extractors import EXTRACTORS
from denoise_crawler.page.text import printable

count = whole_number(1).of_word
_CONSOLE_COLUMNS = 100_000


def add_choices(parser: ArgumentParser) -> None:
    """Add ``--methods``, ``--peers``, ``--extractors``, ``--after`` and ``--workers``."""
    add = parser.add_argument
    for option, table in (("--methods", METHODS), ("--peers", PEERS)):
        what = f"which of {', '.join(table)}; all (the default) or none"
        choices = [*table, "all", "none"]
        add(option, nargs="+", choices=choices, default=["all"], metavar="NAME", help=what)
    what = f"which of {', '.join(EXTRACTORS)} to run alone and after the noise is removed; all or none (none)"
    choices = [*EXTRACTORS, "all", "none"]
    add("--extractors", nargs="+", choices=choices, default=["none"], metavar="NAME", help=what)
    what = f"the methods that remove the noise for --extractors ({DEFAULT_METHOD})"
    add("--after", nargs="+", choices=list(METHODS), default=[DEFAULT_METHOD], metavar="NAME", help=what)
    add("--workers", type=count, default=1, metavar="N", help="run N contenders at a time (1)")


def contenders(
    methods: Sequence[str],
    peers: Sequence[str],
    extractors: Sequence[str] = ("none",),
    after_methods: Sequence[str] = (DEFAULT_METHOD,),
) -> list[Contender]:
    """Return the contenders with these names, "all" or "none" of each kind; all visible text comes first.

    Args:
        methods: Methods of this package.
        peers: Other extractors.
        extractors: Extractors that come alone and after each of ``after_methods``.
        after_methods: Methods that remove the noise before the extractors.

    """
    own = [method(name) for name in select_names(methods, METHODS)]
    peer_contenders = [PEERS[name] for name in select_names(peers, PEERS)]
    found = [visible_text(), *own, *peer_contenders]
    for name in select_names(extractors, EXTRACTORS):
        found += [extractor_alone(name), *(extractor_after(before, name) for before in after_methods)]
    return found


def select_names(names: Sequence[str], table: Iterable[str]) -> list[str]:
    """Return the entries of ``table`` in ``names``, in the table's order; "all" names every one.

    Example:
        >>> select_names(["b", "a"], ["a", "b", "c"])
        ['a', 'b']

    """
    return [name for name in table if name in names or "all" in names]


def evaluate_with_progress(
    sets: Mapping[str, Iterable[GoldPage]],
    contenders: Sequence[Contender],
    *,
    selection: Selection | None = None,
    workers: int = 1,
) -> Evaluation:
    """Run :func:`evaluate` with a progress bar."""
    columns = (TextColumn("{task.description:18}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading pages", total=None)
        done: dict[str, int] = {}

        def progress(name: str, pages: int, total: int) -> None:
            done[name] = pages
            everything = total * (len(contenders) + 1)  # lxml's parse is one more
            bar.update(task, description=escape(printable(name)), completed=sum(done.values()), total=everything)

        return evaluate(sets, contenders, selection=selection, workers=workers, progress=progress)


def print_tables(tables: Iterable[Table]) -> None:
    """Print tables with all columns whole, however narrow the terminal is."""
    console = Console(width=_CONSOLE_COLUMNS)
    for shown in tables:
        table = RichTable(box=SIMPLE_HEAD, pad_edge=False)
        for place, head in enumerate(shown.heads):
            table.add_column(Text(head), justify="right" if place else "left", no_wrap=True)
        for row in shown.rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(Text(shown.title, style="bold"))
        console.print(table)
