"""The ways to find noise, by name."""

from __future__ import annotations

from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.feature_tree.method import FeatureTreeMatching
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.methods.guard import guarded
from denoise_crawler.methods.layout_table import LayoutTable
from denoise_crawler.methods.link_ratio import LinkRatio
from denoise_crawler.methods.node_type.method import NodeTypes
from denoise_crawler.methods.style_tree.method import StyleTree, StyleTreeData

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (Fusion, StyleTree, StyleTreeData, LayoutTable, FeatureTreeMatching, NodeTypes, LinkRatio)
}


class MethodError(ValueError):
    """No method has that name, or the method does not take such options."""


def method_named(name: str, options: dict[str, object] | None = None) -> Method:
    """Return a new method by its name; raise :class:`MethodError` for an unknown name or option."""
    if name not in METHODS:
        raise MethodError(f"unknown method {name!r}; the methods are {', '.join(sorted(METHODS))}")
    try:
        return METHODS[name](**(options or {}))
    except (TypeError, ValueError) as error:
        raise MethodError(f"method {name!r} does not take these options: {error}") from error


__all__ = ["METHODS", "Judgement", "Method", "MethodError", "guarded", "method_named"]
