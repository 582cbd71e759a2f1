"""What ``fusion`` learned from gold pages: a readable JSON file, and the model it describes."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from denoise_crawler.errors import WeightsError
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.class_words import ClassWords
from denoise_crawler.methods.fusion.evidence import Evidence, Words
from denoise_crawler.methods.fusion.features import evidence_of_nothing, page_names, site_groups, table_of
from denoise_crawler.methods.fusion.first_look import FirstLook
from denoise_crawler.methods.fusion.kinds import NO_KINDS, KindWords
from denoise_crawler.methods.fusion.page_type import PageType, PageTypeTrees, page_type_of
from denoise_crawler.methods.fusion.page_type_features import page_type_row, traits_of
from denoise_crawler.methods.fusion.selection import expected_f1
from denoise_crawler.methods.fusion.trees import BoostedTrees, Tree
from denoise_crawler.methods.fusion.wishes import Wishes
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Numbers
    from denoise_crawler.methods.fusion.features import Columns, Rows
    from denoise_crawler.methods.fusion.site_evidence import Standing
    from denoise_crawler.methods.fusion.trees import Table

FILE = "weights.json"
VERSION = 2
_LOOKS = "first", "second", "page_types"  # in the order of the file


class Look(msgspec.Struct, frozen=True):
    """Trees, and the names of the features that their splits number."""

    features: list[str]
    trees: list[Tree]


class Weights(msgspec.Struct, frozen=True):
    """The log odds of class words and of the words that tell the kind of a page, and the trees of two looks at it.

    The ``first`` look is at the page alone, the ``second`` at what the first said and at the site.
    ``page_types`` are trees that tell the type of a page, one after the other a tree for each of ``KINDS``; None
    in a file that cannot tell. ``trained_on`` says by gold set how many sites and pages the weights come from,
    ``confidence`` what F1 was found (second) where one was expected (first).
    """

    version: int
    trained_on: dict[str, dict[str, int]]
    class_words: dict[str, float]
    kind_words: dict[str, list[float]]
    first: Look
    second: Look
    confidence: list[list[float]]
    page_types: Look | None = None


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
        types = weights.page_types
        self._page_types = None if types is None else PageTypeTrees(types.features, types.trees)
        # where nothing is expected, nothing is found
        self._expected, self._found = np.array([[0.0, 0.0], *weights.confidence]).T

    def first_look(self, page: Page) -> FirstLook:
        """Look at ``page`` alone; asked for by ``page.once``, since learning and judging both need it."""
        evidence = Evidence.of(page, page.once(blocks_of), None, self.words)
        return FirstLook.at(evidence, self.first_trees, self.first_features)

    def kinds(self, page: Page) -> Numbers:
        """Return how much ``page`` itself speaks for each of ``KINDS``; zeros if the weights cannot tell.

        Asked for by ``page.once``, as the first look is.
        """
        if self._page_types is None:
            return NO_KINDS
        return self._page_types.scores(traits_of(page), page.once(self.first_look))

    def page_type(self, page: Page, standing: Standing | None, *, has_fields: bool) -> PageType:
        """Return the type of ``page``; none for a page without text, or if the weights cannot tell."""
        if self._page_types is None or not len(page.once(blocks_of)):
            return PageType()
        return page_type_of(page.once(self.kinds), standing, has_fields=has_fields)

    def confidence(self, chances: Numbers, tokens: Numbers, taken: NDArray[np.bool_]) -> float:
        """Return the F1 that the text of the blocks ``taken`` can be expected to have."""
        return round(float(np.interp(expected_f1(chances, tokens, taken), self._expected, self._found)), 4)


def second_table(first: FirstLook, evidence: Evidence, wishes: Columns, names: Sequence[str]) -> Table:
    """Return the features with these ``names`` for the second look at a page; ``evidence`` knows its site."""
    return table_of(second_groups(first, evidence, wishes), names, len(evidence.blocks))


def second_groups(first: FirstLook, evidence: Evidence, wishes: Columns) -> Iterator[Columns | Rows]:
    """Yield all features of the second look at a page, some at a time."""
    return chain(first.page(), site_groups(evidence), first.surroundings(), [wishes])


class FeatureNames(NamedTuple):
    """The names of all features there are, of each look and of whole pages."""

    first: list[str]
    second: list[str]
    page_types: list[str]


@lru_cache(maxsize=1)
def feature_names() -> FeatureNames:
    """Return the names of all features."""
    nothing = Page.parse("", "")
    evidence = evidence_of_nothing()
    first = FirstLook(evidence, np.zeros(0))
    second = second_groups(first, evidence, Wishes().columns(0))
    names = [name for group in second for name in group]
    return FeatureNames(list(page_names()), names, list(page_type_row(traits_of(nothing), first)))


def read_weights(data: bytes) -> Weights:
    """Read a file of weights; raise :class:`WeightsError` for anything else."""
    try:
        return msgspec.json.decode(data, type=Weights)
    except msgspec.MsgspecError as error:
        raise WeightsError(f"this is no file of weights: {error}") from error


def write_weights(weights: Weights) -> bytes:
    """Write ``weights``, a tree a line."""
    looks = {name: look for name in _LOOKS if (look := getattr(weights, name)) is not None}
    bare = msgspec.structs.replace(weights, **{name: Look(look.features, []) for name, look in looks.items()})
    written, *parts = msgspec.json.format(msgspec.json.encode(bare), indent=1).split(b'"trees": []')
    for look, part in zip(looks.values(), parts, strict=True):
        written += b'"trees": [\n' + b",\n".join(msgspec.json.encode(tree) for tree in look.trees) + b"]" + part
    return written + b"\n"


@lru_cache(maxsize=1)
def shipped_model() -> Model:
    """Load the weights that come with the package, once in a process."""
    return Model(read_weights(Path(__file__).with_name(FILE).read_bytes()))


@lru_cache(maxsize=8)
def model_of_file(path: str) -> Model:
    """Load the weights in a file, once in a process; raise :class:`WeightsError` if it cannot be read."""
    try:
        return Model(read_weights(Path(path).read_bytes()))
    except OSError as error:
        raise WeightsError(f"the weights cannot be read: {error}") from error
