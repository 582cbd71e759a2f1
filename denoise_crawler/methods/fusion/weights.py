"""What ``fusion`` learned from gold pages: a readable JSON file, and the model it describes."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from denoise_crawler.errors import WeightsError
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.class_words import ClassWords
from denoise_crawler.methods.fusion.evidence import Evidence, Words
from denoise_crawler.methods.fusion.features import page_groups, site_groups, table_of
from denoise_crawler.methods.fusion.first_look import FirstLook
from denoise_crawler.methods.fusion.kinds import KindWords
from denoise_crawler.methods.fusion.selection import expected_f1
from denoise_crawler.methods.fusion.trees import BoostedTrees, Tree
from denoise_crawler.methods.fusion.wishes import Wishes
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Numbers
    from denoise_crawler.methods.fusion.features import Columns
    from denoise_crawler.methods.fusion.trees import Table

FILE = "weights.json"
VERSION = 2


class Look(msgspec.Struct, frozen=True):
    """Trees, and the names of the features that their splits number."""

    features: list[str]
    trees: list[Tree]


class Weights(msgspec.Struct, frozen=True):
    """The log odds of class words and of the words that tell the kind of a page, and the trees of two looks at it.

    The ``first`` look is at the page alone, the ``second`` at what the first said and at the site.
    ``trained_on`` says by gold set how many sites and pages the weights come from, ``confidence`` what F1 was
    found (second) where one was expected (first).
    """

    version: int
    trained_on: dict[str, dict[str, int]]
    class_words: dict[str, float]
    kind_words: dict[str, list[float]]
    first: Look
    second: Look
    confidence: list[list[float]]


class Model:
    """The weights ready for use."""

    def __init__(self, weights: Weights) -> None:
        if weights.version != VERSION:
            raise WeightsError(f"weights of version {weights.version}; this release reads version {VERSION}")
        self.words = Words(ClassWords(weights.class_words), KindWords(weights.kind_words))
        self.first_features = weights.first.features
        self.first_trees = BoostedTrees(weights.first.trees)
        self.features = weights.second.features
        self.trees = BoostedTrees(weights.second.trees)
        # where nothing is expected, nothing is found
        self._expected, self._found = np.array([[0.0, 0.0], *weights.confidence]).T

    def first_look(self, page: Page) -> FirstLook:
        """Look at ``page`` alone; asked for by ``page.once``, since learning and judging both need it."""
        evidence = Evidence.of(page, page.once(blocks_of), None, self.words)
        return FirstLook.at(evidence, self.first_trees, self.first_features)

    def confidence(self, chances: Numbers, tokens: Numbers, taken: NDArray[np.bool_]) -> float:
        """Return the F1 that the text of the blocks ``taken`` can be expected to have."""
        return round(float(np.interp(expected_f1(chances, tokens, taken), self._expected, self._found)), 4)


def second_table(first: FirstLook, evidence: Evidence, wishes: Columns, names: Sequence[str]) -> Table:
    """Return the features with these ``names`` for the second look at a page; ``evidence`` knows its site."""
    return table_of(second_groups(first, evidence, wishes), names, len(evidence.blocks))


def second_groups(first: FirstLook, evidence: Evidence, wishes: Columns) -> Iterator[Columns]:
    """Yield all features of the second look at a page, some at a time."""
    return chain(first.page(), site_groups(evidence), first.surroundings(), [wishes])


class FeatureNames(NamedTuple):
    """The names of all features there are, of each look."""

    first: list[str]
    second: list[str]


@lru_cache(maxsize=1)
def feature_names() -> FeatureNames:
    """Return the names of all features."""
    nothing = Page.parse("", "")
    evidence = Evidence.of(nothing, blocks_of(nothing), None, Words.none())
    second = second_groups(FirstLook(evidence, np.zeros(0)), evidence, Wishes().columns(0))
    return FeatureNames(_names(page_groups(evidence)), _names(second))


def _names(groups: Iterable[Columns]) -> list[str]:
    return [name for group in groups for name in group]


def read_weights(data: bytes) -> Weights:
    """Read a file of weights; raise :class:`WeightsError` for anything else."""
    try:
        return msgspec.json.decode(data, type=Weights)
    except msgspec.MsgspecError as error:
        raise WeightsError(f"this is no file of weights: {error}") from error


def write_weights(weights: Weights) -> bytes:
    """Write ``weights``, a tree a line."""
    bare = msgspec.structs.replace(
        weights, first=Look(weights.first.features, []), second=Look(weights.second.features, [])
    )
    head, middle, end = msgspec.json.format(msgspec.json.encode(bare), indent=1).split(b'"trees": []')
    first, second = (
        b'"trees": [\n' + b",\n".join(msgspec.json.encode(tree) for tree in look.trees) + b"]"
        for look in (weights.first, weights.second)
    )
    return head + first + middle + second + end + b"\n"


@lru_cache(maxsize=1)
def shipped_model() -> Model:
    """Load the weights that come with the package, once in a process."""
    return Model(read_weights(files(__package__).joinpath(FILE).read_bytes()))


@lru_cache(maxsize=8)
def model_of_file(path: str) -> Model:
    """Load the weights in a file, once in a process; raise :class:`WeightsError` if it cannot be read."""
    try:
        return Model(read_weights(Path(path).read_bytes()))
    except OSError as error:
        raise WeightsError(f"the weights cannot be read: {error}") from error
