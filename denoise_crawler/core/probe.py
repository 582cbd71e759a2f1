"""A small page whose nodes, lines and scores are known: shows whether the core fits this machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from lxml import etree

from denoise_crawler.errors import CoreError

_PAGE = "<body class='a'><p>One <b>two</b><!-- x --> three<ul><li>four</ul>"
_TAGS = ["body", "p", "#text", "b", "#text", "#text", "ul", "li", "#text"]
_TEXTS = ["", "", "One ", "", "two", " three", "", "", "four"]
_HASH = 0xF018871D64733110  # of b"denoise"


def check_modules(modules: dict[str, Any]) -> None:
    """Compare what the ``modules`` of the core make of a known page with what they should.

    Raises:
        CoreError: They differ.

    """
    if (hashed := modules["hashing"].hash64(b"denoise")) != _HASH:
        raise CoreError(f"it hashes bytes wrongly: {hashed:x}")
    tags, texts = _nodes(modules["walk"])
    if (tags, texts) != (_TAGS, _TEXTS):
        raise CoreError(f"it reads a known page wrongly: {tags} {texts}")
    columns = _columns(modules["walk"])
    if (said := columns.attributes_of(0, {})) != ("a", "", 0):
        raise CoreError(f"it reads the attributes of a known page wrongly: {said}")
    if (scores := _scores(modules["trees"])) != [1.0, 2.0]:
        raise CoreError(f"it adds up known trees wrongly: {scores}")


def _columns(nodes: Any) -> Any:
    root = etree.fromstring(_PAGE, etree.HTMLParser())
    columns, _ = nodes.walk_tree(root, frozenset(), frozenset(), frozenset(), "#text", 0, *3 * [_never], False)
    return columns


def _nodes(nodes: Any) -> tuple[list[str], list[str]]:
    columns = _columns(nodes)
    return columns.tags(), columns.texts


def _scores(trees: Any) -> list[float]:
    total = np.zeros(2)
    leaves = np.zeros((1, 32))
    leaves[0, :2] = 1.0, 2.0
    split = np.zeros((1, 1), np.int32), np.full((1, 1), 0.5, np.float32), np.ones((1, 1), np.uint32)
    trees.Trees(*split, leaves).add_scores(np.array([[0.0, 1.0]], np.float32), total)
    scores: list[float] = total.tolist()
    return scores


def _never(*_: object) -> bool:
    return False
