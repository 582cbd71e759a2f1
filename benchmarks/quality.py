"""How good the clean text is: precision, recall and F1 against gold text, beside other extractors.

The sites of a gold set fall into two halves by a hash of their name. Thresholds are chosen on the tuning half
(``--tune``); the figures that count are those of the reporting half, at the thresholds the methods have.
Each site is learned from all of its pages of the set, as ``denoise_pages`` does; the other extractors see one
page at a time. All figures are means over pages.
"""

from __future__ import annotations

from dataclasses import asdict, astuple
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

import trafilatura
from resiliparse.extract.html2text import extract_plain_text

from benchmarks.bench import addressed, folder_with, options, say, table, write_figures
from denoise_crawler import denoise_pages
from denoise_crawler.denoiser import Denoiser, Memory
from denoise_crawler.evaluation.gold import GoldPage, by_site, read_gold
from denoise_crawler.evaluation.measures import Score, mean, score
from denoise_crawler.methods import method_named
from denoise_crawler.output.text import clean_text
from denoise_crawler.page import Page
from denoise_crawler.text import hash64

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence
    from pathlib import Path

Sites: TypeAlias = dict[str, list[GoldPage]]
Scores: TypeAlias = dict[str, list[Score]]  # by site

SETS = ("daniel", "dragnet")
TUNING, REPORTING = 0, 1
THRESHOLDS = [step / 20 for step in range(1, 20)] + [0.99]
OURS: dict[str, tuple[str, dict[str, object]]] = {
    "style_tree": ("style_tree", {}),
    "style_tree, collapse=False": ("style_tree", {"collapse": False}),
    "style_tree, data_node=True": ("style_tree", {"data_node": True}),
    "link_ratio": ("link_ratio", {}),
}


def half(site: str) -> int:
    """Return the half that ``site`` belongs to, the same for ever: ``TUNING`` or ``REPORTING``."""
    return hash64(site) & 1


def _visible(html: str) -> str:
    return clean_text(Page.parse("", html))


def _trafilatura(html: str) -> str:
    return trafilatura.extract(html, include_comments=False) or ""


def _resiliparse(html: str) -> str:
    return str(extract_plain_text(html, main_content=True))


def _resiliparse_text_only(html: str) -> str:
    return str(extract_plain_text(html, main_content=True, comments=False, alt_texts=False))


OTHERS: dict[str, Callable[[str], str]] = {
    "all visible text": _visible,
    "trafilatura": _trafilatura,
    "resiliparse": _resiliparse,
    "resiliparse, comments=False, alt_texts=False": _resiliparse_text_only,
}


def sites_of_set(folder: Path, name: str, at_least: int, most: int | None) -> Sites:
    """Return the sites of a gold set that have enough pages; of each half no more than ``most`` sites."""
    pages = (page for page in read_gold(folder, name) if page.gold is not None)
    found = by_site(pages, at_least)
    chosen = [[site for site in sorted(found) if half(site) == part][:most] for part in (TUNING, REPORTING)]
    return {site: found[site] for part in chosen for site in part}


def scores_of_ours(sites: Sites, method: str, method_options: dict[str, object]) -> Scores:
    """Score one of our methods on every page, by the road that users take."""
    result: Scores = {}
    for site, pages in sites.items():
        cleaned = denoise_pages(addressed(pages), method=method, **method_options)
        result[site] = [score(clean.text, page.gold or "") for clean, page in zip(cleaned, pages, strict=True)]
    return result


def scores_of_other(sites: Sites, extract: Callable[[str], str]) -> Scores:
    """Score an extractor that sees single pages."""
    return {site: [score(extract(page.html), page.gold or "") for page in pages] for site, pages in sites.items()}


def scores_of_all(sites: Sites) -> dict[str, Scores]:
    """Score all rows of the table on one gold set."""
    result: dict[str, Scores] = {}
    for label, (method, method_options) in OURS.items():
        say(f"  {label}")
        result[label] = scores_of_ours(sites, method, method_options)
    for label, extract in OTHERS.items():
        say(f"  {label}")
        result[label] = scores_of_other(sites, extract)
    return result


def f1_by_threshold(sites: Sites, method: str, thresholds: Sequence[float]) -> list[float]:
    """Return the mean F1 at each threshold. What is learned does not depend on it, so it is learned once."""
    known = Memory()
    learner = Denoiser(method, shelf=known)
    pages = [
        (Page.parse(url, html), gold.gold or "")
        for found in sites.values()
        for gold, (url, html) in zip(found, addressed(found), strict=True)
    ]
    for page, _ in pages:
        learner.learn(page)
    learner.save()
    result = []
    for threshold in thresholds:
        denoiser = Denoiser(method, {"threshold": threshold}, shelf=known)
        result.append(mean(score(denoiser.clean(page).text, gold) for page, gold in pages).f1)
    return result


def counted(sites: Sites) -> str:
    """Return how many sites and pages there are, in words."""
    return f"{len(sites)} sites, {sum(map(len, sites.values()))} pages"


def part_of(sites: Sites, part: int | None) -> Sites:
    """Return the sites of one half, or of both (None)."""
    return {site: pages for site, pages in sites.items() if part in (None, half(site))}


def tune(gold_sets: dict[str, Sites], thresholds: Sequence[float]) -> tuple[str, object]:
    """Return the table of F1 by threshold on the tuning half, and its figures."""
    sets = {name: part_of(sites, TUNING) for name, sites in gold_sets.items()}
    parts = ["Tuning half: " + "; ".join(f"{name} {counted(sites)}" for name, sites in sets.items())]
    figures: dict[str, object] = {"half": "tuning"}
    for method in ("style_tree", "link_ratio"):
        by_set = {}
        for name, sites in sets.items():
            say(f"{method} on {name}")
            by_set[name] = f1_by_threshold(sites, method, thresholds)
        means = [fmean(values) for values in zip(*by_set.values(), strict=True)]
        best = thresholds[means.index(max(means))]
        rows = [
            [f"{threshold:g}", *(f"{value:.3f}" for value in values), f"{average:.3f}"]
            for threshold, *values, average in zip(thresholds, *by_set.values(), means, strict=True)
        ]
        shipped = getattr(method_named(method), "threshold", None)
        parts += [f"\n{method}: best threshold {best:g} (mean F1 {max(means):.3f}); shipped {shipped:g}\n"]
        parts += [table(["threshold", *(f"F1 {name}" for name in sets), "mean"], rows)]
        figures[method] = {"best": best, "thresholds": list(thresholds), "f1": by_set, "mean": means}
    return "\n".join(parts), figures


def means_on(gold_sets: dict[str, Sites], scored: dict[str, dict[str, Scores]]) -> dict[str, dict[str, Score]]:
    """Return the mean scores on some sites of each set, by row of the table and by set."""
    return {
        label: {
            name: mean(one for site in sites for one in scored[name][label][site])
            for name, sites in gold_sets.items()
        }
        for label in (*OURS, *OTHERS)
    }


def compare(gold_sets: dict[str, Sites]) -> tuple[str, object]:
    """Return the tables of the reporting half and of all sites, and their figures."""
    scored = {}
    for name, sites in gold_sets.items():
        say(f"{name}: {counted(sites)}")
        scored[name] = scores_of_all(sites)
    heads = ["", *(f"{name} {measure}" for name in gold_sets for measure in ("P", "R", "F1"))]
    parts: list[str] = []
    figures: dict[str, object] = {}
    for title, part in (("Reporting half", REPORTING), ("All sites (the tuning half among them)", None)):
        sets = {name: part_of(sites, part) for name, sites in gold_sets.items()}
        means = means_on(sets, scored)
        rows = [
            [label, *(f"{value:.3f}" for found in row.values() for value in astuple(found))]
            for label, row in means.items()
        ]
        sizes = "; ".join(f"{name} {counted(sites)}" for name, sites in sets.items())
        parts.append(f"{title}: {sizes}\n\n{table(heads, rows)}")
        pages = {name: {site: len(found) for site, found in sites.items()} for name, sites in sets.items()}
        figures["all" if part is None else "reporting"] = {
            "pages": pages,
            "means": {label: {name: asdict(found) for name, found in row.items()} for label, row in means.items()},
        }
    return "\n\n".join(parts), figures


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--tune", action="store_true", help="F1 by threshold on the tuning half, and the best")
    parser.add_argument("--at-least", type=int, default=10, metavar="N", help="sites with N pages or more (10)")
    parser.add_argument(
        "--sites", type=int, metavar="N", help="no more than N sites of each half, for a quick look"
    )
    parser.add_argument("--sets", nargs="+", default=list(SETS), metavar="SET", help="gold sets: daniel dragnet")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    folder = folder_with(arguments.sets)
    gold_sets = {name: sites_of_set(folder, name, arguments.at_least, arguments.sites) for name in arguments.sets}
    printed, figures = tune(gold_sets, THRESHOLDS) if arguments.tune else compare(gold_sets)
    print(printed)
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
