"""What each page of the site adds: F1 of ``fusion`` knowing 0, 1, 2, 3, 5, 10 and 20 other pages of the site.

On sites of the reporting half with at least ``--at-least`` pages; each page is judged by a random sample of the
others (drawn by its address, the same for ever). A column counts the pages of sites that have that many others.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks.bench import folder_with, options, say, table, write_figures
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation.gold import REPORTING, addressed, by_site, half, read_gold
from denoise_crawler.evaluation.measures import mean, score
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.evaluation.gold import GoldPage
    from denoise_crawler.evaluation.measures import Score

SETS = ("daniel", "dragnet")
KNOWN = (0, 1, 2, 3, 5, 10, 20)


def scores_of_site(site: Sequence[GoldPage], method: str) -> dict[int, list[Score]]:
    """Return by number of known pages the scores of a site's pages."""
    pages = [Page.parse(url, html) for url, html in addressed(site)]
    found: dict[int, list[Score]] = {known: [] for known in KNOWN if known < len(pages)}
    for page, gold in zip(pages, site, strict=True):
        others = [other for other in pages if other is not page]
        random.Random(page.key).shuffle(others)
        knowing = Denoiser(method)
        for number in range(len(others) + 1):
            if number in found:
                text = knowing.clean(page).clean_page.text
                found[number].append(score(text, gold.gold or ""))
            if number < len(others):
                knowing.learn(others[number])
    return found


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--at-least", type=int, default=11, metavar="N", help="sites with N pages or more (11)")
    parser.add_argument("--method", default="fusion", metavar="NAME")
    arguments = parser.parse_args(argv)
    folder = folder_with(SETS)
    rows, figures = [], {}
    for name in SETS:
        sites = by_site((page for page in read_gold(folder, name) if page.gold is not None), arguments.at_least)
        scores: dict[int, list[Score]] = {known: [] for known in KNOWN}
        for site, pages in sites.items():
            if half(site) == REPORTING:
                say(f"{name} {site}")
                for known, found in scores_of_site(pages, arguments.method).items():
                    scores[known] += found
        counted = {known: (mean(found).f1, len(found)) for known, found in scores.items() if found}
        figures[name] = counted
        cells = [f"{counted[known][0]:.3f} ({counted[known][1]})" if known in counted else "" for known in KNOWN]
        rows.append([name, *cells])
    heads = ["F1 (pages)", *(f"{known} known" for known in KNOWN)]
    which = f"sites of the reporting half with {arguments.at_least} pages or more"
    print(f"{arguments.method}, {which}\n\n{table(heads, rows)}")
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
