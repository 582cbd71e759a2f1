"""What ``fusion`` learned from gold pages: a readable JSON file, and the model it describes."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import msgspec

from denoise_crawler.errors import WeightsError
from denoise_crawler.methods.fusion.class_words import ClassWords
from denoise_crawler.methods.fusion.trees import BoostedTrees, Tree

FILE = "weights.json"
VERSION = 1


class Weights(msgspec.Struct, frozen=True):
    """The log odds of class words, the trees, and the names of the features that their splits number.

    ``trained_on`` says by gold set how many sites and pages the weights come from.
    """

    version: int
    trained_on: dict[str, dict[str, int]]
    features: list[str]
    class_words: dict[str, float]
    trees: list[Tree]


class Model:
    """The weights ready for use."""

    def __init__(self, weights: Weights) -> None:
        if weights.version != VERSION:
            raise WeightsError(f"weights of version {weights.version}; this release reads version {VERSION}")
        self.features = weights.features
        self.class_words = ClassWords(weights.class_words)
        self.trees = BoostedTrees(weights.trees)


def read_weights(data: bytes) -> Weights:
    """Read a file of weights; raise :class:`WeightsError` for anything else."""
    try:
        return msgspec.json.decode(data, type=Weights)
    except msgspec.MsgspecError as error:
        raise WeightsError(f"this is no file of weights: {error}") from error


def write_weights(weights: Weights) -> bytes:
    """Write ``weights``, a tree a line."""
    head = msgspec.json.format(msgspec.json.encode(msgspec.structs.replace(weights, trees=[])), indent=1)
    trees = b",\n".join(msgspec.json.encode(tree) for tree in weights.trees)
    return head[: head.rindex(b"[]")] + b"[\n" + trees + b"\n]}\n"


@lru_cache(maxsize=1)
def shipped_model() -> Model:
    """Load the weights that come with the package, once in a process."""
    return Model(read_weights(files(__package__).joinpath(FILE).read_bytes()))
