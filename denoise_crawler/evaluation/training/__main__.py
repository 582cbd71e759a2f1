"""Make the weights of ``fusion`` from gold pages.

    python -m denoise_crawler.evaluation.training daniel.jsonl.xz dragnet.jsonl.xz … -o weights.json

The sites of the reporting half (a fixed hash of their name) are left out, so that figures on them are figures
on sites never seen. Each page is shown cold, knowing all other pages of its site, and knowing a few of them.
The log odds of class words are learned on other sites than those whose blocks they describe in training.
Needs LightGBM: ``pip install 'denoise-crawler[training]'``.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track

from denoise_crawler.errors import MissingExtraError
from denoise_crawler.evaluation.gold import TUNING, by_site, gold_sets, half
from denoise_crawler.evaluation.training.boosting import Boosting
from denoise_crawler.evaluation.training.class_word_odds import log_odds, votes
from denoise_crawler.evaluation.training.examples import LabelledPage, examples, labelled
from denoise_crawler.methods.fusion.class_words import ClassWords
from denoise_crawler.methods.fusion.features import feature_names
from denoise_crawler.methods.fusion.weights import VERSION, Weights, write_weights
from denoise_crawler.page.text import hash64

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDS = 5
WARM_WEIGHT = 3.0  # what a page counts that knows its site: most pages of gold sets are alone of theirs


def fold(site: str) -> int:
    """Return the fold of a site, the same for ever."""
    return (hash64(site) >> 1) % FOLDS


def train(
    sets: Sequence[Path], boosting: Boosting, features: int | None = None, *, everything: bool = False
) -> Weights:
    """Return weights from the tuning halves of ``sets`` (of all sites if ``everything``).

    ``features`` keeps that many features, those with most gain in a first fit.
    """
    console = Console(stderr=True)
    trained_on: dict[str, dict[str, int]] = {}
    sites: list[list[LabelledPage]] = []
    for name, pages in gold_sets(sets).items():
        chosen = by_site(page for page in pages if everything or half(page.site) == TUNING)
        found = [list(labelled(site)) for site in track(list(chosen.values()), f"reading {name}", console=console)]
        trained_on[name] = {"sites": len(found), "pages": sum(map(len, found))}
        sites += [site for site in found if site]
    by_votes = [(fold(site[0].site), votes(site)) for site in sites]
    words = [ClassWords(log_odds(vote for other, vote in by_votes if other != one)) for one in range(FOLDS)]
    parts, content, weights = [], [], []
    for site in track(sites, "features", console=console):
        shown = list(examples(site, words[fold(site[0].site)]))
        times = Counter(id(one.page) for one in shown)
        for one in shown:
            parts.append(one.table)
            content.append(one.page.content)
            weights.append(one.page.weights / times[id(one.page)] * (WARM_WEIGHT if one.known else 1.0))
    table, names = np.concatenate(parts), feature_names()
    wanted, counts = np.concatenate(content), np.concatenate(weights)
    if features is not None:
        _, gains = boosting.fit(table, wanted, counts, names)
        best = set(sorted(names, key=lambda name: -gains[name])[:features])
        kept = [index for index, name in enumerate(names) if name in best]
        table, names = table[:, kept], [names[index] for index in kept]
    trees, _ = boosting.fit(table, wanted, counts, names)
    return Weights(VERSION, trained_on, list(names), log_odds(vote for _, vote in by_votes), trees)


def main(argv: list[str] | None = None) -> None:
    """Train and write the file."""
    parser = ArgumentParser(
        prog="python -m denoise_crawler.evaluation.training",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "sets", nargs="+", type=Path, metavar="GOLD", help="gold sets, as for scrapy denoise evaluate"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="where to write the weights"
    )
    parser.add_argument("--trees", type=int, default=Boosting.trees, metavar="N")
    parser.add_argument("--leaves", type=int, default=Boosting.leaves, metavar="N")
    parser.add_argument("--rate", type=float, default=Boosting.rate, metavar="R")
    parser.add_argument("--features", type=int, default=None, metavar="N", help="keep the N most useful")
    parser.add_argument("--everything", action="store_true", help="learn from the reporting half as well")
    given = parser.parse_args(argv)
    try:
        boosting = Boosting(given.trees, given.leaves, given.rate)
    except MissingExtraError as error:
        sys.exit(f"{parser.prog}: {error}")
    weights = train(given.sets, boosting, given.features, everything=given.everything)
    given.output.write_bytes(write_weights(weights))


if __name__ == "__main__":
    main()
