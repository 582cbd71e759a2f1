"""How important a node is (NodeImp and CompImp of Yi, Liu & Li, KDD 2003; pySST's data node), where it is open."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImportanceRules:
    """The choices that the sources leave open.

    Args:
        gamma: The damping γ.
        single_page: The NodeImp of an inner node on one page (m = 1): 0 in the blog, 1 in the KDD paper.
        presence: Whether p_j is a share of pages rather than of occurrences.
        data_node: Whether every element also has the importance of its own text (pySST).
        features_per_leaf: The most features of a leaf that count.

    """

    gamma: float = 0.9
    single_page: float = 0.0
    presence: bool = False
    data_node: bool = False
    features_per_leaf: int = 64
