"""Other extractors on the pages that ``benchmarks.text`` cleaned, and how far ``fusion`` is from the best of them.

Others see one page at a time, so the fair difference is that of ``fusion`` cold. Its interval is drawn again a
thousand times, with a fixed seed; a site is one draw, since the pages of a site are no independent draws.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np

from benchmarks.bench import best_score, say, table
from benchmarks.contest.contenders import Extractor, PageSource
from denoise_crawler.evaluation import GoldPage, Score, mean

DRAWS, SEED = 1_000, 1
OURS = ("fusion", "fusion cold", "one_look")


@dataclass(slots=True)
class Texts:
    """The texts of other extractors, by extractor and page, kept in ``file`` where one is given.

    A page is the digest of its source: one that has changed is read anew. Remove the file for other versions.
    """

    file: Path | None = None
    found: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.file is not None and self.file.exists():
            for line in self.file.read_text("utf-8").splitlines():
                extractor, page, text = json.loads(line)
                self.found[extractor, page] = text

    def of(self, name: str, load: Callable[[], Extractor], pages: Sequence[GoldPage]) -> list[str] | None:
        """Return the texts of ``pages``, empty where the extractor fails; None if it is missing."""
        keys = [(name, sha256(page.html.encode("utf-8", "surrogatepass")).hexdigest()) for page in pages]
        new = [(key, page) for key, page in zip(keys, pages, strict=True) if key not in self.found]
        if new:
            say(f"  {name}")
            try:
                extract = load()
            except ImportError as error:
                say(f"  left out: {error}")
                return None
            sources = [PageSource(page.address, page.html, page.lang) for _, page in new]
            for (key, _), text in zip(new, extract(sources), strict=True):
                self._keep(key, text if isinstance(text, str) else "")
        return [self.found[key] for key in keys]

    def _keep(self, key: tuple[str, str], text: str) -> None:
        self.found[key] = text
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps([*key, text]) + "\n")


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one page: its scores with the site known, cold, by default and by ``one_look``; its texts."""

    set: str
    page: GoldPage
    site_pages: int
    warm: Score
    cold: Score
    by_default: Score
    one_look: Score
    confidence: float
    cold_confidence: float
    page_type: str | None
    text: str
    cold_text: str
    visible: str


@dataclass(slots=True)
class Group:
    """The pages of one line of the table."""

    name: str
    rows: list[Row] = field(default_factory=list)


Scores = dict[tuple[str, str], Score]  # by set and id of the page


def scores_of_peers(
    name: str, rows: Sequence[Row], load: Mapping[str, Callable[[], Extractor]], texts: Texts
) -> dict[str, Scores]:
    """Return by extractor the scores of the pages of the set ``name``; one that is missing is left out."""
    pages = [row.page for row in rows]
    given = {peer: texts.of(peer, one, pages) for peer, one in load.items()}
    return {
        peer: {(name, page.id): best_score(text, page.answers) for page, text in zip(pages, of_pages, strict=True)}
        for peer, of_pages in given.items()
        if of_pages is not None
    }


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference, and where nineteen of twenty draws of sites lie."""

    mean: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.least:+.3f}, {self.most:+.3f}]"


def drawn(differences: Sequence[float], sites: Sequence[str]) -> Difference:
    """Return the mean of ``differences`` between two extractors, by page, and how sure it is."""
    _, numbers = np.unique(sites, return_inverse=True)
    sums, pages = np.bincount(numbers, weights=differences), np.bincount(numbers)
    picked = np.random.default_rng(SEED).integers(len(pages), size=(DRAWS, len(pages)))
    means = sums[picked].sum(axis=1) / pages[picked].sum(axis=1)
    least, most = np.quantile(means, (0.025, 0.975)).tolist()
    return Difference(float(np.mean(differences)), least, most)


def tables(groups: Sequence[Group], peers: Mapping[str, Scores]) -> str:
    """Return F1 (precision, recall) of ours and of each peer by group, and the differences to the best peer."""
    lines, far = [], []
    for group in groups:
        theirs = {name: [found[row.set, row.page.id] for row in group.rows] for name, found in peers.items()}
        ours = zip(*((row.warm, row.cold, row.one_look) for row in group.rows), strict=True)
        means = [mean(scores) for scores in (*ours, *theirs.values())]
        lines.append([group.name, str(len(group.rows)), *map(_cell, means)])
        best = max(theirs, key=lambda name: mean(theirs[name]).f1)
        sites = [row.page.site for row in group.rows]
        beside = [
            drawn([one.f1 - other.f1 for one, other in zip(scores, theirs[best], strict=True)], sites)
            for scores in ([row.cold for row in group.rows], [row.warm for row in group.rows])
        ]
        far.append([group.name, str(len(set(sites))), best, *map(str, beside)])
    scores = table(["F1 (P/R)", "pages", *OURS, *peers], lines)
    return f"{scores}\n\n{table(['', 'sites', 'best peer', 'cold − best', 'known − best'], far)}"


def _cell(score: Score) -> str:
    return f"{score.f1:.3f} ({score.precision:.2f}/{score.recall:.2f})"
