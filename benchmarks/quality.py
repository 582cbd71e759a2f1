"""How good the clean text is, and what it costs, beside other extractors: tables in Markdown.

Every method and every extractor of the extra ``peers`` runs once over the gold sets, by the functions of
``python -m benchmarks.contest``. The sites of a set fall into two halves by a hash of their name. Thresholds are
chosen on the tuning half (``--tune``, sites with ten pages or more); the figures that count are those of the
reporting half, at the thresholds the methods have. Each site is learned from all of its pages of the set; the
other extractors see one page at a time.
"""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from benchmarks.bench import addressed, folder_with, options, say, table, write_figures
from benchmarks.contest.contenders import Contender
from benchmarks.contest.contenders import method as method_contender
from benchmarks.contest.contest import groups_of
from benchmarks.contest.tables import figures, markdown
from benchmarks.contest.terminal import (
    add_choices,
    contenders,
    count,
    evaluate_with_progress,
    select_names,
)
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import REPORTING, TUNING, GoldPage, by_site, half, mean, read_gold, score
from denoise_crawler.methods import DEFAULT_METHOD, METHODS, MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.page import Page

Sites: TypeAlias = dict[str, list[GoldPage]]

SETS = ("daniel", "dragnet", "l3s_gn1")
TUNING_SETS = ("daniel", "dragnet")
TUNED_WITH = 10
THRESHOLDS = [step / 20 for step in range(1, 20)] + [0.99]
VARIANTS: dict[str, dict[str, object]] = {"style_tree": {"collapse": False}}


def sites_of_set(folder: Path, name: str, at_least: int, most: int | None) -> Sites:
    """Return the sites of a gold set that have enough pages; of each half no more than ``most`` sites."""
    pages = (page for page in read_gold(folder, name) if page.gold is not None)
    found = by_site(pages, at_least)
    parts = [[site for site in sorted(found) if half(site) == part][:most] for part in (TUNING, REPORTING)]
    return {site: found[site] for part in parts for site in part}


def pages_of_set(folder: Path, name: str, at_least: int, most: int | None) -> Iterator[GoldPage]:
    """Yield the pages of :func:`sites_of_set`, read when they are asked for."""
    for pages in sites_of_set(folder, name, at_least, most).values():
        yield from pages


def all_contenders(
    methods: Sequence[str],
    peers: Sequence[str],
    extractors: Sequence[str] = ("none",),
    after: Sequence[str] = (DEFAULT_METHOD,),
) -> list[Contender]:
    """Return the contenders with these names, and what is worth a row with other options."""
    variants = [method_contender(name, **VARIANTS[name]) for name in select_names(methods, VARIANTS)]
    return contenders(methods, peers, extractors, after) + variants


def compare(arguments: Namespace, folder: Path) -> None:
    """Print the tables of all pages and of the reporting half, and write the figures."""
    least = arguments.at_least or 1
    sets = {name: pages_of_set(folder, name, least, arguments.sites) for name in arguments.sets or SETS}
    those = all_contenders(arguments.methods, arguments.peers, arguments.extractors, arguments.after)
    evaluation = evaluate_with_progress(sets, those, workers=arguments.workers)
    reporting = [group for group in groups_of(evaluation, halves=True) if group.label.startswith("reporting half")]
    print(markdown(evaluation, halves=True, more=reporting), end="")
    if arguments.json is not None:
        arguments.json.write_text(figures(evaluation, halves=True), encoding="utf-8")


def f1_by_threshold(sites: Sites, method: str, thresholds: Sequence[float]) -> list[float]:
    """Return the mean F1 at each threshold. What is learned does not depend on it, so it is learned once."""
    known = InMemoryKnowledge()
    learner = Denoiser(method, knowledge=known)
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
        denoiser = Denoiser(MethodChoice(method, {"threshold": threshold}), knowledge=known)
        result.append(mean(score(denoiser.clean(page).clean_page.text, gold) for page, gold in pages).f1)
    return result


def part_of(sites: Sites, part: int | None) -> Sites:
    """Return the sites of one half, or of both (None)."""
    return {site: pages for site, pages in sites.items() if part in (None, half(site))}


def tune(gold_sets: dict[str, Sites], methods: Sequence[str], thresholds: Sequence[float]) -> tuple[str, object]:
    """Return the table of F1 by threshold on the tuning half, and its figures."""
    sets = {name: part_of(sites, TUNING) for name, sites in gold_sets.items()}
    sizes = [f"{name} {len(sites)} sites, {sum(map(len, sites.values()))} pages" for name, sites in sets.items()]
    parts = [f"Tuning half: {'; '.join(sizes)}"]
    found: dict[str, object] = {"half": "tuning"}
    for method in methods:
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
        shipped = threshold_of(method)
        parts += [f"\n{method}: best threshold {best:g} (mean F1 {max(means):.3f}); shipped {shipped:g}\n"]
        parts += [table(["threshold", *(f"F1 {name}" for name in sets), "mean"], rows)]
        found[method] = {"best": best, "thresholds": list(thresholds), "f1": by_set, "mean": means}
    return "\n".join(parts), found


def threshold_of(method: str) -> float | None:
    """Return the threshold that a method has, None for one without."""
    threshold: float | None = getattr(MethodChoice(method).new(), "threshold", None)
    return threshold


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    add_choices(parser)
    parser.add_argument("--tune", action="store_true", help="F1 by threshold on the tuning half, and the best")
    parser.add_argument(
        "--at-least", type=count, metavar="N", help="sites with N pages or more (1; 10 with --tune)"
    )
    parser.add_argument(
        "--sites", type=count, metavar="N", help="no more than N sites of each half, for a quick look"
    )
    parser.add_argument("--sets", nargs="+", metavar="SET", help=f"gold sets ({' '.join(SETS)})")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    folder = folder_with(arguments.sets or (TUNING_SETS if arguments.tune else SETS))
    if not arguments.tune:
        compare(arguments, folder)
        return
    least = arguments.at_least or TUNED_WITH
    sets = {name: sites_of_set(folder, name, least, arguments.sites) for name in arguments.sets or TUNING_SETS}
    methods = [name for name in select_names(arguments.methods, METHODS) if threshold_of(name) is not None]
    printed, found = tune(sets, methods, THRESHOLDS)
    print(printed)
    write_figures(arguments.json, found)


if __name__ == "__main__":
    main()
