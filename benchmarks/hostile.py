"""What each hostile page and archive costs: seconds and memory, beside the bounds that docs/guarantees.md states.

What is done with one is done in a process of its own that has cleaned small pages before. A page comes twice, as
two pages of a site, and the dearer one counts. Memory is the peak above what the process held with the HTML in it;
the page's tree counts, though in a crawl it is often the spider's. With ``DENOISE_CORPUS`` set, the share of gold
pages above the limits is told too.
"""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.bench import options, say, table, write_figures
from denoise_crawler.evaluation import corpus_folder
from denoise_crawler.page import Page
from denoise_crawler.reading import Reading, read_pages
from tests.fuzz.costs import FORM, METHODS, MOST_BYTES, MOST_SECONDS, Cost, measure
from tests.fuzz.hostile import ARCHIVES, HOSTILE


def measure_all(names: Iterable[str] | None = None, *, outputs: bool = True) -> list[Cost]:
    """Measure each page and archive, or those with some names, one after the other; see :func:`measure`."""
    costs = []
    for name in names or (*HOSTILE, *ARCHIVES):
        costs.append(measure(name, outputs=outputs))
        say(f"{name}: {costs[-1].outcome}")
    return costs


def costs_table(costs: list[Cost], columns: dict[str, str]) -> str:
    """Return the costs as a table; ``columns`` names what was done."""
    heads = ["", "MB"]
    for what in columns.values():
        heads += [f"{what} s", f"{what} MB"]
    rows = []
    for cost in costs:
        row = [cost.name, f"{cost.size / 1e6:.1f}"]
        for what in columns:
            row += [f"{cost.seconds.get(what, 0.0):.1f}", f"{cost.added.get(what, 0) / 1e6:,.0f}"]
        rows.append([*row, cost.outcome])
    return table([*heads, ""], rows)


def tables(costs: list[Cost]) -> str:
    """Return all tables, with the bounds above them and the worst below."""
    pages, archives = ([cost for cost in costs if (cost.name in ARCHIVES) is wanted] for wanted in (False, True))
    parts = []
    if pages:
        bounds = f"bounds {MOST_SECONDS:g} s and {MOST_BYTES / 1e6:,.0f} MB for {' and '.join(METHODS)}"
        parts.append(f"Pages: CPU seconds and memory added; {bounds}")
        columns = {**{name: name for name in (*METHODS, FORM)}, "all": "all methods and outputs"}
        measured = {what: head for what, head in columns.items() if any(what in cost.seconds for cost in pages)}
        parts.append(costs_table(pages, measured))
        worst = [
            f"{name}: {max(cost.seconds.get(name, 0.0) for cost in pages):.1f} s, "
            f"{max(cost.added.get(name, 0) for cost in pages) / 1e6:,.0f} MB"
            for name in (*METHODS, FORM)
        ]
        parts.append(f"Most of all pages: {'; '.join(worst)}")
    if archives:
        parts.append("Archives: reading them")
        parts.append(costs_table(archives, {"read": "reading"}))
    return "\n\n".join(parts)


def above_limits(folder: Path) -> tuple[Counter[str], int]:
    """Return of all sets in ``folder`` how many pages are skipped, by why, and how many there are."""
    skipped: Counter[str] = Counter()
    reading = Reading()
    for url, html in read_pages(sorted(folder.glob("*.jsonl*")), reading=reading):
        if why := Page.parse(url, html).skipped:
            skipped[why] += 1
    return skipped, reading.pages


def main(argv: list[str] | None = None) -> None:
    """Print the tables; leave with code 1 if a page took more memory than is promised, or something crashed."""
    parser = options(__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measure these alone")
    parser.add_argument("--no-outputs", action="store_true", help="leave out all methods and outputs together")
    arguments = parser.parse_args(argv)
    costs = measure_all(arguments.only, outputs=not arguments.no_outputs)
    print(tables(costs))
    figures: dict[str, object] = {"shapes": {cost.name: cost.figures() for cost in costs}}
    if (folder := corpus_folder()) is not None and not arguments.only:
        skipped, pages = above_limits(folder)
        print(f"\nGold pages above the limits: {skipped['too_large']} of {pages:,}")
        figures["corpus"] = {"pages": pages, "skipped": dict(skipped)}
    write_figures(arguments.json, figures)
    sys.exit(0 if all(cost.within_bounds for cost in costs) else 1)


if __name__ == "__main__":
    main()
