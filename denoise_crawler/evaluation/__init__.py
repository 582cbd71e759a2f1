"""Compares methods and other extractors on pages with gold text."""

from __future__ import annotations

from denoise_crawler.evaluation.contenders import PEERS, Contender, all_methods, method, visible_text
from denoise_crawler.evaluation.contest import Evaluation, Selection, evaluate, groups_of, summarize
from denoise_crawler.evaluation.gold import GoldPage, gold_sets

__all__ = [
    "PEERS",
    "Contender",
    "Evaluation",
    "GoldPage",
    "Selection",
    "all_methods",
    "evaluate",
    "gold_sets",
    "groups_of",
    "method",
    "summarize",
    "visible_text",
]
