"""Make the weights of ``fusion`` from gold pages.

    python -m benchmarks.training daniel.jsonl.xz … --whole fundus.jsonl.xz … -o weights.json

The sites of the reporting half (a fixed hash of their name) are left out, so that figures on them are figures
on sites never seen. Of sets too small for halves (``--whole``) all sites are learned from; figures on them come
from the weights of folds (``--folds``), each made without a fifth of the sites. Each page is shown cold, knowing
all other pages of its site, and knowing a few of them. The log odds of class words come from other sites than
those whose blocks they describe in training.
Needs LightGBM: ``pip install 'denoise-crawler[training]'``.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.training.boxes import COUNTS, boxed
from benchmarks.training.examples import (
    LEAST_KNOWN,
    PLANTINGS,
    SHORT_COUNTS,
    LabelledPage,
    Rows,
    labelled,
    planted,
    rows,
)
from benchmarks.training.fitting import (
    FOLDS,
    Boosting,
    TypedPage,
    Voices,
    expected_and_measured,
    fold,
    fold_file,
    kind_odds,
    knots,
    log_odds,
    page_type_forests,
    typed_pages,
    voices,
    votes,
)
from denoise_crawler.errors import MissingExtraError
from denoise_crawler.evaluation import TUNING, GoldPage, addresses, by_site, gold_sets, half
from denoise_crawler.methods.fusion.features import BLOCK_NAMES, LOCAL_NAMES, Forests, Words
from denoise_crawler.methods.fusion.markup_words import ClassWords, KindWords
from denoise_crawler.methods.fusion.trees import BoostedTrees, Tree
from denoise_crawler.methods.fusion.weights import VERSION, Weights, WrittenForest, write_weights

T = TypeVar("T")
BOXED_PAGES = 2  # of a site


@dataclass(eq=False)
class _Course:
    """The pages that are learned from, by site, and the votes of their sites on class words."""

    sites: list[list[LabelledPage]]
    planted: list[list[LabelledPage]]  # those on which noise could be planted, with it
    boxed: list[list[LabelledPage]]  # pages alone, with boxes
    trained_on: dict[str, dict[str, int]]
    votes: list[dict[str, float]] = field(init=False)
    voices: list[Voices] = field(init=False)

    def __post_init__(self) -> None:
        self.votes = [{} if site[0].is_part else votes(site) for site in self.sites]
        self.voices = [voices(site) for site in self.sites]

    @property
    def whole(self) -> list[list[LabelledPage]]:
        """The pages whose gold is all of their content."""
        return [site for site in self.sites if not site[0].is_part]

    def words(self, left_out: int | None) -> tuple[dict[str, float], dict[str, list[float]]]:
        """Return the log odds of class words and of the kinds of pages, learned without the sites of a fold."""
        used = [number for number, site in enumerate(self.sites) if fold(site[0].site) != left_out]
        return log_odds(self.votes[one] for one in used), kind_odds(self.voices[one] for one in used)


def train(
    sets: Sequence[Path],
    boosting: Boosting,
    whole: Sequence[Path] = (),
    parts: Sequence[Path] = (),
    types: Mapping[str, str] | None = None,
) -> tuple[Weights, list[Weights]]:
    """Return weights from the tuning halves of ``sets``, all sites of the others; and those without each fold.

    ``types`` are by name of a set what its pages are, where they say no type.
    """
    course = _read(sets, whole, parts, types or {})
    odds = {left_out: course.words(left_out) for left_out in (*range(FOLDS), None)}
    words = {left_out: Words(ClassWords(classes), KindWords(kinds)) for left_out, (classes, kinds) in odds.items()}
    alone = ((site, 0) for site in (*course.sites, *course.boxed))
    shown = *alone, *((site, LEAST_KNOWN) for site in course.planted)
    examples: list[Rows] = []
    for site, least in _tracked(shown, "features"):
        examples += rows(site, words[fold(site[0].site)], least)
    first = _fits(boosting, examples)
    first_looks = {left_out: BoostedTrees(trees) for left_out, trees in first.items()}
    examples = []
    for site, least in _tracked(shown, "features of a second look"):
        left_out = fold(site[0].site)
        examples += rows(site, words[left_out], least, first_looks[left_out])
    second = _fits(boosting, examples)
    del examples
    forests = {left_out: Forests(first_looks[left_out], BoostedTrees(trees)) for left_out, trees in second.items()}
    typed: list[TypedPage] = []
    pairs: list[tuple[float, float]] = []
    for site in _tracked(course.whole, "confidence"):
        left_out = fold(site[0].site)
        looks = {page: page.look(words[left_out], forests[left_out]) for page in site}
        typed += typed_pages(site, looks)
        pairs += expected_and_measured(site, looks)
    page_types = page_type_forests(typed, boosting)
    *without, whole_weights = (
        Weights(
            VERSION, course.trained_on, *odds[left_out],
            WrittenForest(list(LOCAL_NAMES), first[left_out]),
            WrittenForest(list(BLOCK_NAMES), second[left_out]), knots(pairs), page_types[left_out],
        )
        for left_out in odds
    )  # fmt: skip
    return whole_weights, without


def _read(sets: Sequence[Path], whole: Sequence[Path], parts: Sequence[Path], types: Mapping[str, str]) -> _Course:
    """Read the sites that are learned from."""
    trained_on: dict[str, dict[str, int]] = {}
    sites: list[list[LabelledPage]] = []
    with_noise: list[list[LabelledPage]] = []
    with_boxes: list[list[LabelledPage]] = []
    for paths, everything, is_part in ((sets, False, False), (whole, True, False), (parts, True, True)):
        for name, pages in gold_sets(paths).items():
            chosen = by_site(page for page in pages if everything or half(page.site) == TUNING)
            page_type, tracked = types.get(name, ""), _tracked(list(chosen.values()), f"reading {name}")
            learned = [list(labelled(site, is_part=is_part, page_type=page_type)) for site in tracked]
            if not is_part:
                for site, number in product(chosen.values(), range(PLANTINGS)):
                    with_noise.append(list(labelled(planted(site, number))))
                for site in chosen.values():
                    with_noise.append(list(labelled(planted(site, short=True), counts=SHORT_COUNTS)))
                    with_boxes += _with_boxes(site, page_type)
            trained_on[name] = {"sites": len(learned), "pages": sum(map(len, learned))}
            sites += filter(None, learned)
    return _Course(sites, list(filter(None, with_noise)), with_boxes, trained_on)


def _with_boxes(pages: Sequence[GoldPage], page_type: str) -> Iterator[list[LabelledPage]]:
    """Yield a few pages of a site with boxes planted, each alone: a page that knows its site knows its boxes."""
    with_gold = [page for page in pages if page.gold]
    for page, address in list(zip(with_gold, addresses(with_gold), strict=True))[:BOXED_PAGES]:
        is_thread = (page.page_type or page_type) == "forum"
        if (made := boxed(page, address, may_have_comments=not is_thread)) is not None:
            yield list(labelled([made], counts=COUNTS, has_planted_comments=True))


def _fits(boosting: Boosting, rows: Sequence[Rows]) -> dict[int | None, list[Tree]]:
    """Return trees learned from all ``rows``, and without those of each fold."""
    table, content = np.concatenate([one.table for one in rows]), np.concatenate([one.content for one in rows])
    weights = np.concatenate([one.weights for one in rows])
    folds = np.repeat([fold(one.site) for one in rows], [len(one.content) for one in rows])
    fits = boosting.fits(table, content, weights, folds)
    return dict(_tracked(fits, f"fitting {len(table)} rows", FOLDS + 1))


def _tracked(steps: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
    return track(steps, what, total, console=Console(stderr=True))


def main(argv: list[str] | None = None) -> None:
    """Train and write the file."""
    parser = ArgumentParser(
        prog="python -m benchmarks.training",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("sets", nargs="+", type=Path, metavar="GOLD", help="gold sets, as for scrapy denoise evaluate")
    add("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write the weights")
    add("--trees", type=int, default=Boosting.trees, metavar="N")
    add("--leaves", type=int, default=Boosting.leaves, metavar="N")
    add("--seed", type=int, default=Boosting.seed, metavar="N", help="of the rows and columns that trees draw")
    what = "sets of which all sites are learned from"
    add("--whole", nargs="+", type=Path, default=[], metavar="GOLD", help=what)
    what = "sets whose gold is a part of the content: nothing is learned from text that is not in it"
    add("--parts", nargs="+", type=Path, default=[], metavar="GOLD", help=what)
    what = "what the pages of a set are, where they say no type"
    add("--types", nargs="+", default=[], metavar="NAME=TYPE", help=what)
    add("--folds", type=Path, metavar="FOLDER", help="write the weights made without each fold of sites there")
    given = parser.parse_args(argv)
    try:
        boosting = Boosting(given.trees, given.leaves, given.seed)
    except MissingExtraError as error:
        sys.exit(f"{parser.prog}: {error}")
    types = dict(one.split("=", 1) for one in given.types)
    weights, without = train(given.sets, boosting, given.whole, given.parts, types)
    given.output.write_bytes(write_weights(weights))
    if given.folds is not None:
        given.folds.mkdir(parents=True, exist_ok=True)
        for left_out, of_fold in enumerate(without):
            (given.folds / fold_file(left_out)).write_bytes(write_weights(of_fold))


if __name__ == "__main__":
    main()
