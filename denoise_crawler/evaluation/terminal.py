"""An evaluation in the terminal, with a progress bar on stderr and tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from rich.text import Text

from denoise_crawler.evaluation.contest import Selection, evaluate
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from denoise_crawler.evaluation.contenders import Contender
    from denoise_crawler.evaluation.gold import GoldPage
    from denoise_crawler.evaluation.results import Evaluation
    from denoise_crawler.evaluation.tables import Table

_CONSOLE_COLUMNS = 100_000


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
            table.add_row(*(Text(cell.text) for cell in row))
        console.print(Text(shown.title, style="bold"))
        console.print(table)
