"""Rules that were derived from judged pages, alone, beside ``fusion``: F1 against gold on pages neither learned.

Of each site with at least ``--at-least`` pages with gold, all folds of pages but one (in the order of the hashes
of their addresses) are learned, and rules are derived from the verdicts of ``fusion`` on these. The pages of the
other fold are cleaned by ``fusion`` that knows the same pages, and by the rules alone; then comes the next fold.
``agreement`` is the F1 of the characters that the rules keep, taking the verdicts of ``fusion`` for the truth.
``--show`` prints the rules of the first sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.bench import folder_with, options, say, table, write_figures
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation.gold import (
    REPORTING,
    GoldPage,
    Score,
    addressed,
    by_site,
    half,
    mean,
    read_gold,
    score,
)
from denoise_crawler.methods import Judgement
from denoise_crawler.page import Page
from denoise_crawler.rules.derive import Agreement, JudgedPage, agreement, derive_rules
from denoise_crawler.rules.learned import LearnedRules, as_site_file
from denoise_crawler.rules.obeying import judge_by_rules

SETS = ("daniel", "wcxb")


@dataclass(slots=True)
class Found:
    """The scores of the pages of some sites, and how close the rules come to the verdicts."""

    rules: list[Score] = field(default_factory=list)
    fusion: list[Score] = field(default_factory=list)
    close: Agreement = field(default_factory=Agreement)

    def add(self, other: Found) -> None:
        """Add the pages of another site."""
        self.rules += other.rules
        self.fusion += other.fusion
        self.close += other.close

    def cells(self) -> list[str]:
        """Return pages, F1 of both, their ratio and the agreement."""
        rules, fusion = mean(self.rules).f1, mean(self.fusion).f1
        return [
            f"{len(self.rules):,}",
            *(f"{fusion:.3f}", f"{rules:.3f}", f"{rules / fusion if fusion else 0:.3f}", f"{self.close.f1:.3f}"),
        ]


def compare_site(site: str, pages: Sequence[GoldPage], folds: int) -> tuple[LearnedRules, Found]:
    """Return the scores of a site's pages, none of which was learned, and the rules of the last fold."""
    parsed = [Page.parse(url, html, site=site) for url, html in addressed(pages)]
    order = sorted(range(len(parsed)), key=lambda number: parsed[number].key)
    found, learned = Found(), LearnedRules(site)
    for fold in range(min(folds, len(order))):
        left_out = order[fold::folds]
        known = [number for number in order if number not in left_out]
        denoiser = Denoiser()
        for number in known:
            denoiser.learn(parsed[number])
        judged = [JudgedPage(parsed[number], denoiser.judge(parsed[number]).noise) for number in known]
        learned = derive_rules(site, judged)
        for number in left_out:
            found.add(compare_page(denoiser, parsed[number], pages[number].gold or "", learned))
    return learned, found


def compare_page(denoiser: Denoiser, page: Page, gold: str, learned: LearnedRules) -> Found:
    """Return the scores of a page that ``denoiser`` has not learned."""
    file, verdict = learned.file(), denoiser.judge(page)
    by_rules = judge_by_rules(page, file)
    text = denoiser.write(page, Judgement(by_rules, [0.0] * len(by_rules))).clean_page.text
    plain = denoiser.write(page, verdict).clean_page.text
    return Found([score(text, gold)], [score(plain, gold)], agreement(page, verdict.noise, file))


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    parser = options(__doc__)
    parser.add_argument("--at-least", type=int, default=5, metavar="N", help="sites with N pages or more (5)")
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="of a site's pages (5)")
    parser.add_argument("--sets", nargs="+", default=list(SETS), metavar="NAME")
    parser.add_argument("--sites", action="store_true", help="a line for each site as well")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the rules of N sites")
    arguments = parser.parse_args(argv)
    folder, shown = folder_with(arguments.sets), arguments.show
    rows, by_sites, figures = list[list[str]](), list[list[str]](), {}
    for name in arguments.sets:
        gold = (page for page in read_gold(folder, name) if (page.gold or "").strip())
        whole, reporting = Found(), Found()
        for site, pages in by_site(gold, arguments.at_least).items():
            say(f"{name} {site}")
            learned, found = compare_site(site, pages, arguments.folds)
            whole.add(found)
            if half(site) == REPORTING:
                reporting.add(found)
            by_sites.append([name, site, f"{len(learned.rules)}", *found.cells()])
            if shown:
                print(as_site_file(learned))
                shown -= 1
        rows.append([name, "all", *whole.cells()])
        rows.append([name, "reporting half", *reporting.cells()])
        figures[name] = {"all": whole.cells(), "reporting half": reporting.cells()}
    heads = ["pages", "fusion", "rules alone", "ratio", "agreement"]
    if arguments.sites:
        print(table(["gold set", "site", "rules", *heads], sorted(by_sites, key=lambda row: row[-2])))
    print(table(["gold set", "sites", *heads], rows))
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
