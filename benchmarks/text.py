"""The text of ``fusion`` on every gold set, its site known and cold: one table, to compare before and after.

Of the sets whose halves are kept apart (``daniel``, ``dragnet``, ``l3s_gn1``, ``wcxb``) the rows are of the
reporting half. The other sets are too small for halves: their rows are of all pages. Pages of their sites, in
whatever set, are judged by the weights of their fold, which saw no page of the site (``--folds``, see
``python -m benchmarks.training``). Without folds the weights that come with the package judge all.

With ``--half tuning`` the rows of the halved sets are of the other half, and their pages are judged by folds as
well: the table to develop by. ``--peers`` measures other extractors on the same pages (``beside``),
and ``--texts`` keeps their texts, so that the next run costs only ours.

The title is asked for as the gold of a set has it; the last column has F1 with the defaults. ``±`` is the
standard error of F1, a site being one draw.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.bench import addressed, best_score, folder_with, options, say, table, write_figures
from benchmarks.beside import Group, Row, Texts, scores_of_peers, tables
from benchmarks.confidence import reliability
from benchmarks.contest.contenders import PEERS
from benchmarks.page_types import told_of_types
from benchmarks.thread import ThreadScore, score_thread
from benchmarks.training.fitting import fold, fold_file
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import (
    HALVES,
    REPORTING,
    GoldPage,
    Score,
    by_site,
    half,
    mean,
    read_gold,
    token_sequence,
)
from denoise_crawler.kernel.columns import KINDS
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.methods.fusion.features import LEAVE
from denoise_crawler.page import Page

NEW = (
    *("fundus", "fundus80", "forums", "readability", "newspaper4k", "defuddle", "products", "sites", "postlight"),
    *("misinfo", "gne_zh", "articles2026", "docs", "qa", "zh_hand", "jocmp", "wp_many", "wp_more", "shops2"),
    "forums2",
)
HALVED = ("daniel", "dragnet", "l3s_gn1", "wcxb")
ARTICLES = (
    *("fundus", "fundus80", "newspaper4k", "postlight", "misinfo", "gne_zh", "articles2026", "zh_hand", "jocmp"),
    *("daniel", "dragnet", "l3s_gn1", "article"),
)  # sets of articles alone, and the type of others that are
WITH_TITLE = ("daniel", "dragnet", "l3s_gn1")  # most of whose gold texts begin with it
LARGE_SITES = {"daniel": 10, "dragnet": 5}
COLUMNS = ("P", "R", "F1", "±", "cold F1", "F1 by default")
CONFIDENT = (*NEW, "wcxb")  # the sets by which confidence is measured
VALUES = ("price", "sku", "brand", "mpn")


def rows_of_site(name: str, pages: Sequence[GoldPage], options: dict[str, object]) -> Iterator[Row]:
    """Clean the pages of one site of a set, which is learned from all of them, and each of them alone."""
    addresses, known = addressed(pages), InMemoryKnowledge()
    learner = Denoiser(MethodChoice(options=options), knowledge=known)
    for url, html in addresses:
        learner.learn(Page.parse(url, html, site=pages[0].site))
    learner.save()
    unasked = {name: value for name, value in options.items() if name != "title"}
    knowing, by_default = (Denoiser(MethodChoice(options=one), knowledge=known) for one in (options, unasked))
    without_site = Denoiser(MethodChoice("one_look", options))
    for gold, (url, html) in zip(pages, addresses, strict=True):
        page = Page.parse(url, html, site=gold.site)
        warm = knowing.clean(page).clean_page
        cold = Denoiser(MethodChoice(options=options)).clean(page).clean_page if len(pages) > 1 else warm
        usual = by_default.clean(page).clean_page if options != unasked else warm
        looked = without_site.clean(page).clean_page
        scores = [best_score(one.text, gold.answers) for one in (warm, cold, usual, looked)]
        sure = [one.confidence or 0.0 for one in (warm, cold)]
        yield Row(
            name, gold, len(pages), *scores, *sure, warm.page_type, warm.text, cold.text,
            visible=" ".join(page.nodes.texts),
        )  # fmt: skip


def standard_error(rows: Sequence[Row]) -> float:
    """Return the standard error of the mean F1, by site: the pages of a site are no independent draws."""
    f1s = np.array([row.warm.f1 for row in rows])
    _, sites = np.unique([row.page.site for row in rows], return_inverse=True)
    off = np.bincount(sites, weights=f1s - f1s.mean())
    return float(np.sqrt((off**2).sum()) / len(rows))


def groups_of(name: str, rows: Sequence[Row]) -> list[Group]:
    """Return the lines of a set: all pages, those of large sites, those of each type."""
    found = [Group(name, list(rows))]
    if name in LARGE_SITES:
        least = LARGE_SITES[name]
        found.append(Group(f"{name} ≥ {least}", [row for row in rows if row.site_pages >= least]))
    if name == "wcxb":
        for kind in sorted({row.page.page_type or "" for row in rows}):
            found.append(Group(f"– {kind}", [row for row in rows if row.page.page_type == kind]))
    return [group for group in found if group.rows]


def line_of(group: Group) -> list[str]:
    """Return the cells of one line."""
    warm, cold = mean(row.warm for row in group.rows), mean(row.cold for row in group.rows)
    by_default = mean(row.by_default for row in group.rows)
    return [
        group.name, str(len(group.rows)), f"{warm.precision:.3f}", f"{warm.recall:.3f}", f"{warm.f1:.3f}",
        f"{standard_error(group.rows):.3f}", f"{cold.f1:.3f}", f"{by_default.f1:.3f}",
    ]  # fmt: skip


def threads(rows: Sequence[Row], text: Callable[[Row], str]) -> ThreadScore:
    """Return the mean over threads of the posts found and of the noise."""
    found = [score_thread(text(row), row.page.posts) for row in rows if row.page.posts]
    return ThreadScore(fmean(one.found for one in found), fmean(one.noise for one in found))


def values_kept(rows: Sequence[Row]) -> dict[str, float]:
    """Return of each attribute the share of its values visible on a page that stand in its text."""
    kept: dict[str, float] = {}
    for name in VALUES:
        shown = [
            _bare(value) in _bare(row.text)
            for row in rows
            for value in row.page.values.get(name, [])
            if _bare(value) and _bare(value) in _bare(row.visible)
        ]
        if shown:
            kept[name] = fmean(shown)
    return kept


def _bare(text: str) -> str:
    """Return the digits and letters of ``text``."""
    return "".join(filter(str.isalnum, text.lower()))


def rows_of_set(folder: Path, name: str, folds: dict[str, Path], part: int = REPORTING) -> list[Row]:
    """Clean the pages of a set: those of one half, or all of a set that is not halved."""
    sites = by_site(page for page in read_gold(folder, name) if page.gold is not None or page.attrs)
    rows: list[Row] = []
    for site, pages in sites.items():
        if name not in HALVED or half(site) == part:
            options: dict[str, object] = {} if name in WITH_TITLE else {"title": LEAVE}
            rows += rows_of_site(name, pages, options | ({"weights": folds[site]} if site in folds else {}))
    return rows


def folds_of(folder: Path, weights: Path | None, sets: Sequence[str] = NEW) -> dict[str, Path]:
    """Return by site of ``sets`` (those without halves) the file with the weights that saw no page of it."""
    if weights is None:
        return {}
    sites = {page.site for name in sets for page in read_gold(folder, name)}
    return {site: weights / fold_file(fold(site)) for site in sites}


def report(name: str, rows: Sequence[Row]) -> list[str]:
    """Return what is said of a set beside its line: page types, the posts of threads, the values of products."""
    typed = [row for row in rows if row.page.page_type in KINDS]
    types = [row.page.page_type or "" for row in typed]
    told = [told_of_types(name, types, [row.page_type for row in typed])] if typed else []
    return told + list(filter(None, [_of_parts(name, rows)]))


def _of_parts(name: str, rows: Sequence[Row]) -> str:
    if any(row.page.posts for row in rows):
        warm, cold = threads(rows, lambda row: row.text), threads(rows, lambda row: row.cold_text)
        return (
            f"{name}: posts found {warm.found:.1%} (cold {cold.found:.1%}), "
            f"noise {warm.noise:.3f} (cold {cold.noise:.3f})"
        )
    if name == "products":
        words = fmean(len(token_sequence(row.text)) for row in rows)
        shares = ", ".join(f"{value} {share:.2f}" for value, share in values_kept(rows).items())
        return f"{name}: visible values kept: {shares}; {words:.0f} words a page"
    return ""


def told_of_confidence(rows: Sequence[Row]) -> str:
    """Say how well the confidence of pages tells their F1, with the site known and cold."""
    known = reliability([row.confidence for row in rows], [row.warm.f1 for row in rows])
    cold = reliability([row.cold_confidence for row in rows], [row.cold.f1 for row in rows])
    told = (
        f"area for F1 < .8 {one.area:.3f}; {one.sure:.0%} of pages above .9, their F1 {one.sure_f1:.3f}; "
        f"off by {one.off:.3f} over tenths"
        for one in (known, cold)
    )
    return "confidence, {} pages: {}; cold: {}".format(len(rows), *told)


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="SET", default=NEW + HALVED)
    parser.add_argument("--peers", nargs="+", metavar="NAME", choices=PEERS, default=[], help="others beside it")
    parser.add_argument("--texts", type=Path, metavar="FILE", help="keep the texts of others in FILE")
    parser.add_argument("--half", choices=HALVES, default="reporting", help="of the halved sets")
    parser.add_argument("--folds", type=Path, metavar="FOLDER", help="the weights of folds")
    return parser.parse_args(argv)


def summed_up(rows: Sequence[Row]) -> list[Group]:
    """Return the lines for all articles and for all pages."""
    articles = [row for row in rows if row.set in ARTICLES or row.page.page_type in ARTICLES]
    return [group for group in (Group("all articles", articles), Group("all", list(rows))) if group.rows]


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    arguments = _arguments(argv)
    folder = folder_with(arguments.sets)
    part = HALVES[arguments.half]
    lines, notes, figures = [], [], {}
    judged: list[Row] = []
    groups: list[Group] = []
    folds = folds_of(folder, arguments.folds, NEW if part == REPORTING else NEW + HALVED)
    load = {name: PEERS[name].load for name in arguments.peers}
    texts, peers = Texts(arguments.texts), dict[str, dict[tuple[str, str], Score]]()
    for name in arguments.sets:
        say(name)
        rows = rows_of_set(folder, name, folds, part)
        notes += report(name, rows)
        with_gold = [row for row in rows if row.page.gold is not None]
        for peer, scores in scores_of_peers(name, with_gold, load, texts).items():
            peers.setdefault(peer, {}).update(scores)
        groups += groups_of(name, with_gold)
        judged += with_gold
    for group in groups:
        lines.append(line_of(group))
        figures[group.name] = dict(zip(COLUMNS, map(float, lines[-1][2:]), strict=True))
    print(table(["set", "pages", *COLUMNS], lines))
    if peers:
        print("\n" + tables(groups + summed_up(judged), peers))
    if of_confidence := [row for row in judged if row.set in CONFIDENT]:
        notes.append(told_of_confidence(of_confidence))
    print("\n" + "\n".join(notes))
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
