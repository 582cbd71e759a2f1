"""Fitting boosted trees with LightGBM and writing them as ``fusion`` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from denoise_crawler.errors import needs
from denoise_crawler.methods.fusion.trees import MAX_LEAVES, Tree

KIND_LEAVES, KIND_ROUNDS = 4, 80


@dataclass(frozen=True)
class Boosting:
    """How many trees of how many leaves, and how fast they learn."""

    trees: int = 400
    leaves: int = 31
    rate: float = 0.1

    def __post_init__(self) -> None:
        with needs("training"):  # before the pages are read, which takes long
            import_module("lightgbm")
        if not 2 <= self.leaves <= MAX_LEAVES:
            raise ValueError(f"leaves must lie between 2 and {MAX_LEAVES}, not {self.leaves}")

    def fit(self, table: NDArray[Any], content: NDArray[Any], weights: NDArray[Any]) -> list[Tree]:
        """Return the trees."""
        parameters = {
            "objective": "binary",
            "num_leaves": self.leaves,
            "learning_rate": self.rate,
            "min_data_in_leaf": 40,
            "feature_fraction": 0.5,
            "max_bin": 127,
        }
        return _fit(parameters, self.trees, table, content, weights)

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
        return _fit(parameters, KIND_ROUNDS, table, kinds, weights)


def _fit(
    parameters: dict[str, Any], rounds: int, table: NDArray[Any], wanted: NDArray[Any], weights: NDArray[Any]
) -> list[Tree]:
    import lightgbm

    usual = {
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "lambda_l2": 5.0,
        "use_missing": False,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
        "seed": 1,
    }
    data = lightgbm.Dataset(table, wanted, weight=weights * (len(weights) / weights.sum()), free_raw_data=False)
    booster = lightgbm.train(usual | parameters, data, num_boost_round=rounds)
    return [_tree(one["tree_structure"]) for one in booster.dump_model()["tree_info"]]


def _tree(root: dict[str, Any]) -> Tree:
    """Return a tree of LightGBM's dump by columns."""
    tree = Tree([], [], [], [], [], [])
    if "leaf_value" in root:  # nothing to split: a split that sends all one way
        whole = {"split_feature": 0, "threshold": 0.0, "internal_value": root["leaf_value"]}
        root = {**whole, "left_child": root, "right_child": root}
    waiting = [(root, -1, False)]
    while waiting:
        node, parent, is_right = waiting.pop()
        if "leaf_value" in node:
            tree.leaves.append(round(node["leaf_value"], 5))
            number = -len(tree.leaves)
        else:
            number = len(tree.features)
            tree.features.append(node["split_feature"])
            tree.thresholds.append(float(f"{node['threshold']:.7g}"))
            tree.expected.append(round(node["internal_value"], 5))
            tree.left.append(0)
            tree.right.append(0)
            waiting += [(node["right_child"], number, True), (node["left_child"], number, False)]
        if parent >= 0:
            (tree.right if is_right else tree.left)[parent] = number
    return tree
