"""What each page of a site teaches: texts by how many other pages of the site are known, one table a set.

Each page is judged by a random sample of the others (drawn by its address, the same for ever), on sites with
``--at-least`` pages: of ``daniel``, ``dragnet`` and ``l3s_gn1`` those of the reporting half, of other sets all, by
the weights of the fold that saw no page of the site (``--folds``, see ``python -m benchmarks.text``). Other
extractors see one page at a time: one row each.

must-not left: the share of a set's ``must_not`` lines (sure to be noise) that are lines of the text.
repeated: the share of the text's tokens in lines of four tokens or more that stand in three texts of the site.

Below a table: how many lines go and come when all other pages are known, by whether the gold text has their tokens
in a row.
"""

import random
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.bench import folder_with, options, say, table, write_figures
from benchmarks.contest.contenders import PEERS, PageSource
from benchmarks.text import folds_of
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import (
    REPORTING,
    GoldPage,
    Score,
    addressed,
    by_site,
    half,
    mean,
    read_gold,
    score,
    token_sequence,
)
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.fusion.features import LEAVE
from denoise_crawler.page import Page

SETS = ("sites", "daniel", "dragnet")
HALVED = ("daniel", "dragnet", "l3s_gn1")  # whose gold texts begin with the title, too
METHODS = ("fusion", "style_tree")
KNOWN = (0, 1, 2, 4, 6, 12)
ALL = "all"
_LEAST_TOKENS = 4
_LEAST_TEXTS = 3


@dataclass(slots=True)
class Row:
    r"""What came of the pages of a set by one contender, with as many pages known.

    Example:
        >>> from denoise_crawler.evaluation import GoldPage
        >>> page = GoldPage("1", "a.example", "", gold="A ship came in.", must_not=["Read more", "Next"])
        >>> row = Row()
        >>> row.add_site([page], ["A ship came in.\nRead more"])
        >>> row.must_not_left, round(row.mean.precision, 2), row.mean.recall
        (0.5, 0.67, 1.0)

    """

    scores: list[Score] = field(default_factory=list)
    must_not: int = 0
    left: int = 0
    tokens: int = 0
    repeated: int = 0

    @property
    def mean(self) -> Score:
        """The mean over pages."""
        return mean(self.scores)

    @property
    def must_not_left(self) -> float:
        """The share of lines that must not stay, but do."""
        return self.left / max(self.must_not, 1)

    def add_site(self, pages: Sequence[GoldPage], texts: Sequence[str]) -> None:
        """Count the texts of the pages of one site."""
        lines = [[tuple(token_sequence(line)) for line in text.splitlines()] for text in texts]
        stands_in = Counter(line for page in lines for line in set(page))
        for page, text, found in zip(pages, texts, lines, strict=True):
            self.scores.append(score(text, page.gold or ""))
            sure = {tuple(token_sequence(line)) for line in page.must_not}
            self.must_not += len(sure)
            self.left += len(sure & set(found))
            self.tokens += sum(map(len, found))
            self.repeated += sum(
                len(line) for line in found if len(line) >= _LEAST_TOKENS and stands_in[line] >= _LEAST_TEXTS
            )

    def cells(self) -> list[str]:
        """Return what the table says of it."""
        of, left = self.mean, f"{self.must_not_left:.2%}" if self.must_not else ""
        figures = [f"{one:.4f}" for one in (of.precision, of.recall, of.f1)]
        return [str(len(self.scores)), *figures, left, f"{self.repeated / max(self.tokens, 1):.2%}"]


@dataclass(slots=True)
class Changes:
    r"""The lines that go and that come as a site is known: of the gold text, and of noise.

    Example:
        >>> from denoise_crawler.evaluation import GoldPage
        >>> page = GoldPage("1", "a.example", "", gold="A ship came in. It was late.")
        >>> changes = Changes()
        >>> changes.add(page, "A ship came in.\nRead more", "A ship came in.\nIt was late.")
        >>> print(changes)
        lines of noise: 1 go, 0 come; lines of gold: 0 go, 1 come

    """

    gone: Counter[bool] = field(default_factory=Counter)
    come: Counter[bool] = field(default_factory=Counter)

    def add(self, page: GoldPage, cold: str, known: str) -> None:
        """Count those of one page."""
        gold = _words(page.gold or "")
        before, after = (Counter(map(_words, text.splitlines())) for text in (cold, known))
        self.gone.update(line in gold for line in (before - after).elements())
        self.come.update(line in gold for line in (after - before).elements())

    def __str__(self) -> str:
        gone, come = self.gone, self.come
        noise, gold = (f"{gone[is_gold]} go, {come[is_gold]} come" for is_gold in (False, True))
        return f"lines of noise: {noise}; lines of gold: {gold}"


def _words(text: str) -> str:
    """Return the tokens of a text with a space at each side."""
    return f" {' '.join(token_sequence(text))} "


def texts_by_known(site: Sequence[GoldPage], choice: MethodChoice) -> dict[str, list[str]]:
    """Return by number of known pages the texts of a site's pages."""
    pages = [Page.parse(url, html, site=site[0].site) for url, html in addressed(site)]
    found: dict[str, list[str]] = {str(known): [] for known in KNOWN if known < len(pages)} | {ALL: []}
    for page in pages:
        others = [other for other in pages if other is not page]
        random.Random(page.key).shuffle(others)
        knowing = Denoiser(choice)
        for number in range(len(others) + 1):
            for known in (str(number), ALL if number == len(others) else ""):
                if known in found:
                    found[known].append(knowing.clean(page).clean_page.text)
            if number < len(others):
                knowing.learn(others[number])
    return found


def rows_of_method(
    method: str, name: str, sites: Sequence[Sequence[GoldPage]], folds: Mapping[str, Path]
) -> tuple[dict[str, Row], Changes]:
    """Return a method's rows by the number of known pages, and what all of them change.

    ``folds`` are the weights to use, by site.
    """
    leaves = method == "fusion" and name not in HALVED
    rows, changes = {str(known): Row() for known in KNOWN} | {ALL: Row()}, Changes()
    for pages in sites:
        say(f"{name} {method} {pages[0].site}")
        weights = {"weights": folds[pages[0].site]} if leaves and pages[0].site in folds else {}
        choice = MethodChoice(method, options={"title": LEAVE, **weights} if leaves else {})
        found = texts_by_known(pages, choice)
        for known, texts in found.items():
            rows[known].add_site(pages, texts)
        for page, cold, warm in zip(pages, found["0"], found[ALL], strict=True):
            changes.add(page, cold, warm)
    return {known: row for known, row in rows.items() if row.scores}, changes


def rows_of_peers(names: Sequence[str], sites: Sequence[Sequence[GoldPage]]) -> Iterator[tuple[str, Row]]:
    """Yield each extractor with its row; one that is missing is named and left out."""
    for name in names:
        try:
            extract = PEERS[name].load()
        except ImportError as error:
            say(f"left out: {error}")
            continue
        row = Row()
        for pages in sites:
            texts = extract([PageSource(page.address, page.html, page.lang) for page in pages])
            row.add_site(pages, [text if isinstance(text, str) else "" for text in texts])
        yield name, row


def sites_of(folder: Path, name: str, at_least: int) -> list[list[GoldPage]]:
    """Return the pages by site that are measured."""
    sites = by_site((page for page in read_gold(folder, name) if page.gold is not None), at_least)
    return [pages for site, pages in sites.items() if name not in HALVED or half(site) == REPORTING]


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--at-least", type=int, default=10, metavar="N", help="sites with N pages or more (10)")
    parser.add_argument("--sets", nargs="+", metavar="SET", default=SETS)
    parser.add_argument("--methods", nargs="+", metavar="NAME", default=METHODS)
    parser.add_argument("--peers", nargs="+", metavar="NAME", choices=PEERS, default=[], help="others beside it")
    parser.add_argument("--folds", type=Path, metavar="FOLDER", help="the weights of folds")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    folder, figures = folder_with(arguments.sets), {}
    folds = folds_of(folder, arguments.folds)
    for name in arguments.sets:
        sites, lines, notes = sites_of(folder, name, arguments.at_least), [], []
        for method in arguments.methods:
            rows, changes = rows_of_method(method, name, sites, folds)
            notes.append(f"{method}, from none to all known: {changes}")
            lines += [[f"{method}, {known} known", *row.cells()] for known, row in rows.items()]
            figures[f"{name}, {method}"] = {
                known: [row.mean.f1, len(row.scores)] for known, row in rows.items() if known != ALL
            }
        lines += [[peer, *row.cells()] for peer, row in rows_of_peers(arguments.peers, sites)]
        print(f"{name}, {len(sites)} sites of {arguments.at_least} pages or more\n")
        print(table(["", "pages", "P", "R", "F1", "must-not left", "repeated"], lines) + "\n")
        print("\n".join(notes) + "\n")
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
