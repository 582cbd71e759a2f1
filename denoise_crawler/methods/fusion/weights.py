"""What ``fusion`` learned from gold pages: a readable JSON file, and the model it describes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np

from denoise_crawler.errors import WeightsError
from denoise_crawler.methods.fusion.features import BLOCK_NAMES, Forests, Look, Words
from denoise_crawler.methods.fusion.markup_words import ClassWords, KindWords
from denoise_crawler.methods.fusion.page_type import (
    CUT_SHIFTS,
    PAGE_TYPE_NAMES,
    PageType,
    PageTypeTrees,
    is_thread,
    page_type_of,
    traits_of,
)
from denoise_crawler.methods.fusion.trees import BoostedTrees, Tree
from denoise_crawler.page import Page

FILE = "weights.json"
VERSION = 4
_FORESTS = "first_look", "second_look", "page_types"  # in the order of the file


class WrittenForest(msgspec.Struct, frozen=True):
    """Trees, and the names of the features that their splits number."""

    features: list[str]
    trees: list[Tree]


class Weights(msgspec.Struct, frozen=True):
    """The log odds of class words and of the words that tell the kind of a page, and the trees.

    ``first_look`` are the trees that tell content by each block itself, ``second_look`` those that see the scores
    of the first as well. ``page_types`` tell the type of a page, one after the other a tree
    for each of ``KINDS``; None in a file that cannot tell. ``trained_on`` says by gold set how many sites and
    pages the weights come from, ``confidence`` what F1 was found (second) where one was expected (first).
    """

    version: int
    trained_on: dict[str, dict[str, int]]
    class_words: dict[str, float]
    kind_words: dict[str, list[float]]
    first_look: WrittenForest
    second_look: WrittenForest
    confidence: list[list[float]]
    page_types: WrittenForest | None = None


def _numbered(forest: WrittenForest, names: Sequence[str]) -> list[Tree]:
    """Return trees whose splits number the features as in ``names``; a file may know fewer, in another order."""
    if unknown := sorted({*forest.features}.difference(names)):
        raise WeightsError(
            f"the weights know a feature that this release does not make: {unknown[0]}. Train anew."
        )
    numbers = [names.index(name) for name in forest.features]
    return [
        msgspec.structs.replace(tree, features=[numbers[number] for number in tree.features])
        for tree in forest.trees
    ]


class Model:
    """The weights ready for use."""

    def __init__(self, weights: Weights) -> None:
        if weights.version != VERSION:
            raise WeightsError(f"weights of version {weights.version}; this release reads version {VERSION}")
        self.words = Words(ClassWords(weights.class_words), KindWords(weights.kind_words))
        looks = weights.first_look, weights.second_look
        self.forests = Forests(*(BoostedTrees(_numbered(one, BLOCK_NAMES)) for one in looks))
        types = weights.page_types
        self._page_types = None if types is None else PageTypeTrees(_numbered(types, PAGE_TYPE_NAMES))
        # where nothing is expected, nothing is found
        self._expected, self._found = np.array([[0.0, 0.0], *weights.confidence]).T

    def alone(self, page: Page) -> Look:
        """Look at ``page`` alone; asked for by ``page.once``, since learning and judging both need it."""
        return Look.of(page, self.words, self.forests)

    def page_type(self, page: Page, look: Look, *, has_fields: bool) -> PageType:
        """Return the type of ``page``; none for a page without text, or if the weights cannot tell."""
        if self._page_types is None or not len(look.blocks):
            return PageType()
        scores = self._page_types.scores(page.once(traits_of), look)
        page_type = page_type_of(scores, has_fields=has_fields)
        if page_type.name == "article" and is_thread(page, look):
            return PageType("forum", CUT_SHIFTS["forum"])
        return page_type

    def confidence(self, expected: float) -> float:
        """Return the F1 that was found where so much was expected."""
        return round(float(np.interp(expected, self._expected, self._found)), 4)


def read_weights(data: bytes) -> Weights:
    """Read a file of weights; raise :class:`WeightsError` for anything else."""
    try:
        return msgspec.json.decode(data, type=Weights)
    except msgspec.MsgspecError as error:
        raise WeightsError(f"this is no file of weights: {error}") from error


def write_weights(weights: Weights) -> bytes:
    """Write ``weights``, a tree a line."""
    forests = {name: one for name in _FORESTS if (one := getattr(weights, name)) is not None}
    bare = msgspec.structs.replace(
        weights, **{name: WrittenForest(one.features, []) for name, one in forests.items()}
    )
    written, *parts = msgspec.json.format(msgspec.json.encode(bare), indent=1).split(b'"trees": []')
    for one, part in zip(forests.values(), parts, strict=True):
        written += b'"trees": [\n' + b",\n".join(msgspec.json.encode(tree) for tree in one.trees) + b"]" + part
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
