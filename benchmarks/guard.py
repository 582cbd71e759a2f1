"""The guard over all gold pages: none whose gold has text comes out empty without a stated reason.

Every site is learned from all of its pages first. ``skipped`` pages say why they cannot be read (empty, frameset,
too large); of ``guarded`` ones the method's own verdict left next to nothing, and a safer one took its place.
"""

import sys
from collections import Counter
from pathlib import Path

from benchmarks.bench import folder_with, options, say, table, write_figures
from denoise_crawler.denoiser import DEFAULT_METHOD
from denoise_crawler.evaluation import by_site, read_gold
from denoise_crawler.methods import METHODS
from tests.fuzz.road import outcomes

SETS = ("daniel", "dragnet", "l3s_gn1", "wcxb", "christianbook")


def count_outcomes(folder: Path, gold_set: str, method: str) -> Counter[str]:
    """Count the outcomes of all pages of a set whose gold has text."""
    sites = by_site(page for page in read_gold(folder, gold_set) if (page.gold or "").strip() or page.attrs)
    found: Counter[str] = Counter()
    for pages in sites.values():
        for name, outcome in outcomes(pages, method):
            found[outcome] += 1
            if outcome == "empty":
                say(f"empty: {name} by {method}")
    return found


def main(argv: list[str] | None = None) -> None:
    """Print the table; leave with code 1 if a page came out empty."""
    parser = options(__doc__)
    parser.add_argument("--methods", nargs="+", default=[DEFAULT_METHOD], choices=sorted(METHODS), metavar="NAME")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS, metavar="NAME")
    arguments = parser.parse_args(argv)
    folder = folder_with(arguments.sets)
    rows, figures, empty = [], {}, 0
    for gold_set in arguments.sets:
        for method in arguments.methods:
            say(f"{gold_set} by {method}")
            found = count_outcomes(folder, gold_set, method)
            skipped = sum(count for outcome, count in found.items() if outcome.startswith("skipped"))
            empty += found["empty"]
            cells = (found.total(), found["guarded"], skipped, found["empty"])
            rows.append([gold_set, method, *(f"{count:,}" for count in cells)])
            figures[f"{gold_set} by {method}"] = dict(found)
    print(table(["gold set", "method", "pages", "guarded", "skipped", "empty"], rows))
    write_figures(arguments.json, figures)
    sys.exit(empty > 0)


if __name__ == "__main__":
    main()
