"""What is fitted to gold pages: log odds of words, boosted trees, types of pages, how sure a judgement is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import fsum, log, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.training.examples import MAX_KNOWN, LabelledPage, known_site
from denoise_crawler import kernel
from denoise_crawler.errors import needs
from denoise_crawler.evaluation import score
from denoise_crawler.kernel.columns import KINDS, MAX_LEAVES, SiteStats
from denoise_crawler.kernel.names import words_of
from denoise_crawler.methods.fusion.features import KEEP, LEAVE, Look, Preferences
from denoise_crawler.methods.fusion.page_type import PAGE_TYPE_NAMES, page_type_row
from denoise_crawler.methods.fusion.trees import Tree
from denoise_crawler.methods.fusion.weights import WrittenForest
from denoise_crawler.page.text import hash64

# --- fitting boosted trees with LightGBM and writing them as ``fusion`` reads them

KIND_LEAVES, KIND_ROUNDS = 4, 80
BOOSTERS = 2


@dataclass(frozen=True)
class Boosting:
    """How many trees of how many leaves are fitted, and the seed of what they draw.

    The score of a block is the mean of ``BOOSTERS``, which draw other rows and columns: so the verdict on a page
    of few blocks depends less on chance.
    """

    trees: int = 120
    leaves: int = 31
    seed: int = 0

    def __post_init__(self) -> None:
        with needs("training"):  # before the pages are read, which takes long
            import_module("lightgbm")
        if not 2 <= self.leaves <= MAX_LEAVES:
            raise ValueError(f"leaves must lie between 2 and {MAX_LEAVES}, not {self.leaves}")

    def fits(
        self, table: NDArray[Any], content: NDArray[Any], weights: NDArray[Any], folds: NDArray[Any]
    ) -> Iterator[tuple[int | None, list[Tree]]]:
        """Yield the trees that are learned without the rows of each fold, and from all rows."""
        parameters = {"objective": "binary", "num_leaves": self.leaves, "learning_rate": 0.1}
        data = _binned(parameters, table, content)  # once for all folds and boosters
        for left_out in (*range(FOLDS), None):
            used = np.flatnonzero(folds != left_out)
            part, trees = data.subset(used).construct(), list[Tree]()
            for number in range(1, BOOSTERS + 1):
                seed = self.seed * BOOSTERS + number
                trees += _fit(parameters, self.trees, part, weights[used], seed, share=1 / BOOSTERS)
            yield left_out, trees

    def fit_kinds(self, table: NDArray[Any], kinds: NDArray[Any], weights: NDArray[Any], count: int) -> list[Tree]:
        """Return trees that tell ``count`` kinds of rows, one after the other a tree for each kind.

        Pages are few, so the trees are small: their number and size do not depend on those for blocks.
        """
        parameters = {
            "objective": "multiclass",
            "num_class": count,
            "num_leaves": KIND_LEAVES,
            "learning_rate": 0.12,
            "min_data_in_leaf": 10,
            "feature_fraction": 0.3,
            "max_bin": 63,
        }
        return _fit(parameters, KIND_ROUNDS, _binned(parameters, table, kinds), weights, self.seed + 1)


_USUAL = {
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "use_missing": False,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.5,
    "max_bin": 127,
}


def _binned(parameters: dict[str, Any], table: NDArray[Any], wanted: NDArray[Any]) -> Any:
    import lightgbm

    return lightgbm.Dataset(table, wanted, params=_USUAL | parameters).construct()


def _fit(
    parameters: dict[str, Any], rounds: int, data: Any, weights: NDArray[Any], seed: int, share: float = 1.0
) -> list[Tree]:
    """Return trees, whose leaves are a ``share`` of those fitted."""
    import lightgbm

    data.set_weight(weights * (len(weights) / weights.sum()))
    booster = lightgbm.train(_USUAL | parameters | {"seed": seed}, data, num_boost_round=rounds)
    return [_tree(one["tree_structure"], share) for one in booster.dump_model()["tree_info"]]


def _tree(root: dict[str, Any], share: float) -> Tree:
    """Return a tree of LightGBM's dump by columns."""
    tree = Tree([], [], [], [], [], [])
    if "leaf_value" in root:  # nothing to split: a split that sends all one way
        whole = {"split_feature": 0, "threshold": 0.0, "internal_value": root["leaf_value"]}
        root = {**whole, "left_child": root, "right_child": root}
    waiting = [(root, -1, False)]
    while waiting:
        node, parent, is_right = waiting.pop()
        if "leaf_value" in node:
            tree.leaves.append(round(share * node["leaf_value"], 5))
            number = -len(tree.leaves)
        else:
            number = len(tree.features)
            tree.features.append(node["split_feature"])
            tree.thresholds.append(_rounded_down(node["threshold"]))
            tree.expected.append(round(share * node["internal_value"], 5))
            tree.left.append(0)
            tree.right.append(0)
            waiting += [(node["right_child"], number, True), (node["left_child"], number, False)]
        if parent >= 0:
            (tree.right if is_right else tree.left)[parent] = number
    return tree


def _rounded_down(threshold: float) -> float:
    """Return the largest 32-bit number that is not above a threshold; one above it would let another value by."""
    nearest = np.float32(threshold)
    return float(str(nearest if nearest <= threshold else np.nextafter(nearest, np.float32(-np.inf))))


# --- how good the text is that comes out where a certain F1 is expected: measured on pages of sites not seen

BINS = 12


def expected_and_measured(
    site: Sequence[LabelledPage], looks: Mapping[LabelledPage, Look]
) -> Iterator[tuple[float, float]]:
    """Yield what F1 is expected of each page of a site and what comes of it, cold and knowing the other pages.

    ``looks`` at the pages alone are by trees that saw no page of the site.
    """
    scores = {page: look.scores for page, look in looks.items()}
    for one in site:
        others = [other for other in site if other.key != one.key]
        for known in sorted({0, min(len(others), MAX_KNOWN)}):
            site_stats = known_site(one, others, known, scores).site_stats_for(one.key, one.blocks)
            yield _measured(one, looks[one], site_stats)


def _measured(page: LabelledPage, alone: Look, site_stats: SiteStats | None) -> tuple[float, float]:
    blocks, best = page.blocks, alone.headline.best
    preferences = Preferences(title=KEEP if best >= 0 and page.content[best] else LEAVE)
    look, title = alone.knowing(site_stats, preferences.columns), (alone.headline.sure, preferences.title == KEEP)
    chances = kernel.active.content_chances(look.scores, site_stats, preferences.shift, *title)
    kept, expected, _ = kernel.active.most_f1(chances, blocks.tokens)
    text = "\n".join(blocks.texts[block] for block in np.flatnonzero(kept))
    return expected, score(text, page.gold).f1


def knots(pairs: Iterable[tuple[float, float]]) -> list[list[float]]:
    """Return the mean expected and the mean measured F1 of as many pages each, neither ever falling."""
    ascending = np.array(sorted(pairs)).reshape(-1, 2)
    means = np.array([part.mean(axis=0) for part in np.array_split(ascending, BINS) if len(part)]).reshape(-1, 2)
    return [[round(float(value), 4) for value in knot] for knot in np.maximum.accumulate(means, axis=0)]


FOLDS = 5


def fold(site: str) -> int:
    """Return the fold of a site, the same for ever."""
    return (hash64(site) >> 1) % FOLDS


def fold_file(of: int) -> str:
    """Return the name of the file with the weights that were made without a fold of sites."""
    return f"without-{of}.json"


# --- log odds by word, one vote a site: that the text below a class or id is content; of what kind a page is

Voices: TypeAlias = dict[str, frozenset[str]]

MIN_SITES = 4
_BASE = 0.4
_PRIOR_VOTES = 2.0


def votes(site: Sequence[LabelledPage]) -> dict[str, float]:
    """Return by word the share of content among the tokens below elements named so, on one site."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for one in site:
        around, tokens = one.blocks.around, one.blocks.tokens
        content = np.concatenate(([0.0], np.cumsum(tokens * one.content)))
        every = np.concatenate(([0.0], np.cumsum(tokens)))
        columns = around.named.tolist(), around.first.tolist(), around.last.tolist()
        for number, first, last in zip(*columns, strict=True):
            for word in words_of(around.names[number]):
                sums[word][0] += content[last] - content[first]
                sums[word][1] += every[last] - every[first]
    return {word: content / every for word, (content, every) in sums.items() if every}


def log_odds(sites: Iterable[dict[str, float]]) -> dict[str, float]:
    """Join the votes of ``sites`` for words that ``MIN_SITES`` of them have, smoothed towards the usual share."""
    shares: dict[str, list[float]] = defaultdict(list)
    for site in sites:
        for word, share in site.items():
            shares[word].append(share)
    usual = log(_BASE / (1 - _BASE))
    result = {}
    for word, of_sites in sorted(shares.items()):
        if len(of_sites) >= MIN_SITES:
            content = fsum(of_sites) + _PRIOR_VOTES * _BASE
            result[word] = round(log(content / (len(of_sites) + _PRIOR_VOTES - content)) - usual, 3)
    return result


MIN_SITES_OF_KIND = 5
_LEAST = 0.7  # a word that says less of every kind is left out
_PRIOR = 0.5


def voices(site: Sequence[LabelledPage]) -> Voices:
    """Return by kind the words that its pages of the site have."""
    by_kind: dict[str, set[str]] = {}
    for one in site:
        if one.kind in KINDS:
            by_kind.setdefault(one.kind, set()).update(one.kind_words)
    return {kind: frozenset(words) for kind, words in by_kind.items()}


def kind_odds(sites: Iterable[Voices]) -> dict[str, list[float]]:
    """Return by word the log odds of each kind."""
    sites_with: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    sites_of: Counter[str] = Counter()
    for site in sites:
        for kind, words in site.items():
            sites_of[kind] += 1
            sites_with[kind].update(words)
    everywhere: Counter[str] = Counter()
    for counted in sites_with.values():
        everywhere.update(counted)
    result: dict[str, list[float]] = {}
    for word, count in sorted(everywhere.items()):
        if count < MIN_SITES_OF_KIND:
            continue
        odds = [_log_ratio(sites_with[kind][word], sites_of[kind], count, sites_of.total()) for kind in KINDS]
        if max(odds) >= _LEAST:
            result[word] = [round(one, 1) for one in odds]
    return result


def _log_ratio(of_kind: int, kind: int, of_all: int, everything: int) -> float:
    """Return the log of how much more often pages of a kind have a word than the others do, smoothed."""
    usual = (of_all + _PRIOR) / (everything + 2 * _PRIOR)
    own = (of_kind + 4 * usual) / (kind + 4)
    others = (of_all - of_kind + 4 * usual) / (everything - kind + 4)
    return log(own / others)


# --- learning what type a page is of, from pages whose type somebody said

_THREADS = 3.0  # how often a thread counts, of which the sets have few


class TypedPage(NamedTuple):
    """A page whose type is known: its numbers, and how much it counts."""

    site: str
    kind: int
    row: NDArray[np.float32]
    weight: float


def typed_pages(site: Sequence[LabelledPage], looks: Mapping[LabelledPage, Look]) -> list[TypedPage]:
    """Return the pages of a site whose type is known; ``looks`` are by trees that saw no page of the site.

    The n pages of a type that a site has count as much as the square root of n, threads three times that.
    """
    known = [page for page in site if page.page_type in KINDS]
    times = Counter(page.page_type for page in known)
    typed = []
    for page in known:
        row = page_type_row(page.traits, looks[page])
        weight = (_THREADS if page.page_type == "forum" else 1.0) / sqrt(times[page.page_type])
        typed.append(TypedPage(page.site, KINDS.index(page.page_type), row, weight))
    return typed


def page_type_forests(pages: Sequence[TypedPage], boosting: Boosting) -> dict[int | None, WrittenForest | None]:
    """Return the trees learned from all ``pages``, and without those of each fold; None where there are none."""
    forests: dict[int | None, WrittenForest | None] = {}
    for left_out in (*range(FOLDS), None):
        used = [page for page in pages if left_out is None or fold(page.site) != left_out]
        if not used:
            forests[left_out] = None
            continue
        kinds = np.array([page.kind for page in used])
        table, weights = np.array([page.row for page in used]), np.array([page.weight for page in used])
        trees = boosting.fit_kinds(table, kinds, weights, len(KINDS))
        forests[left_out] = WrittenForest(list(PAGE_TYPE_NAMES), trees)
    return forests
