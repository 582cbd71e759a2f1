"""The text of ``fusion`` on every gold set, its site known and cold: one table, to compare before and after.

Of the sets whose halves are kept apart (``daniel``, ``dragnet``, ``l3s_gn1``, ``wcxb``) the rows are of the
reporting half. The other sets are too small for halves: their rows are of all pages, each judged by the weights
of its fold, which saw no page of its site (``--folds``, see ``python -m denoise_crawler.training``). Without
folds the weights that come with the package judge all. ``±`` is the standard error of F1, a site being one draw.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bench import addressed, folder_with, options, say, table, write_figures
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation.gold import REPORTING, by_site, half, read_gold
from denoise_crawler.evaluation.measures import Score, mean, score, token_sequence
from denoise_crawler.evaluation.thread import ThreadScore, score_thread
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Sequence

    from denoise_crawler.evaluation.gold import GoldPage

NEW = ("fundus", "fundus80", "forums", "readability", "newspaper4k", "defuddle", "products")
HALVED = ("daniel", "dragnet", "l3s_gn1", "wcxb")
LARGE_SITES = {"daniel": 10, "dragnet": 5}
VALUES = ("price", "sku", "brand", "mpn")


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one page: its scores with the site known and cold, and its two texts."""

    page: GoldPage
    site_pages: int
    warm: Score
    cold: Score
    text: str
    cold_text: str
    visible: str


@dataclass(slots=True)
class Group:
    """The pages of one line of the table."""

    name: str
    rows: list[Row] = field(default_factory=list)


def rows_of_site(pages: Sequence[GoldPage], denoiser: Callable[[], Denoiser]) -> Iterator[Row]:
    """Clean the pages of one site, which is learned from all of them, and each of them alone."""
    addresses = addressed(pages)
    knowing = denoiser()
    for url, html in addresses:
        knowing.learn(Page.parse(url, html, site=pages[0].site))
    for gold, (url, html) in zip(pages, addresses, strict=True):
        page = Page.parse(url, html, site=gold.site)
        text = knowing.clean(page).clean_page.text
        cold = denoiser().clean(page).clean_page.text if len(pages) > 1 else text
        wanted = gold.gold or ""
        visible = " ".join(page.nodes.texts)
        yield Row(gold, len(pages), score(text, wanted), score(cold, wanted), text, cold, visible)


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
    return [
        group.name, str(len(group.rows)), f"{warm.precision:.3f}", f"{warm.recall:.3f}", f"{warm.f1:.3f}",
        f"{standard_error(group.rows):.3f}", f"{cold.f1:.3f}",
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


def rows_of_set(folder: Path, name: str, denoiser_of: Callable[[str], Callable[[], Denoiser]]) -> list[Row]:
    """Clean the pages of a set: those of the reporting half, or all of a set that is not halved."""
    sites = by_site(page for page in read_gold(folder, name) if page.gold is not None or page.attrs)
    rows: list[Row] = []
    for site, pages in sites.items():
        if name not in HALVED or half(site) == REPORTING:
            rows += rows_of_site(pages, denoiser_of(site))
    return rows


def report(name: str, rows: Sequence[Row]) -> str:
    """Return what is said of a set beside its line: the posts of threads, the values of products."""
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


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="SET", default=NEW + HALVED)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    arguments = _arguments(argv)
    folder = folder_with(arguments.sets)
    lines, notes, figures = [], [], {}
    for name in arguments.sets:
        say(name)
        rows = rows_of_set(folder, name, lambda _: Denoiser)
        notes.append(report(name, rows))
        for group in groups_of(name, [row for row in rows if row.page.gold is not None]):
            lines.append(line_of(group))
            figures[group.name] = dict(zip(("P", "R", "F1", "±", "cold"), map(float, lines[-1][2:]), strict=True))
    print(table(["set", "pages", "P", "R", "F1", "±", "cold F1"], lines))
    print("\n" + "\n".join(filter(None, notes)))
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
