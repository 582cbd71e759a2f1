"""How far rules alone reproduce judgements: by the characters of the text that both keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT
from denoise_crawler.rules.obeying import judge_by_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.page import Page
    from denoise_crawler.rules.site_file import SiteFile


@dataclass(frozen=True, slots=True)
class Agreement:
    """Nodes of text, or the characters in them: those that both keep, the rules alone, the judgement alone.

    Example:
        >>> (Agreement(3, 1, 0) + Agreement(1, 0, 1)).f1
        0.8

    """

    both: int = 0
    rules: int = 0
    judgement: int = 0
    pages: int = 0

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            self.both + other.both,
            self.rules + other.rules,
            self.judgement + other.judgement,
            self.pages + other.pages,
        )

    @property
    def precision(self) -> float:
        """The share of what the rules keep that the judgement keeps."""
        return self.both / (self.both + self.rules) if self.both + self.rules else 1.0

    @property
    def recall(self) -> float:
        """The share of what the judgement keeps that the rules keep."""
        return self.both / (self.both + self.judgement) if self.both + self.judgement else 1.0

    @property
    def f1(self) -> float:
        """The F1 of what the rules keep, taking the judgement for the truth."""
        whole = 2 * self.both + self.rules + self.judgement
        return 2 * self.both / whole if whole else 1.0


def agreement(page: Page, noise: Sequence[bool], file: SiteFile, *, by_nodes: bool = False) -> Agreement:
    """Compare what the rules of a file alone keep of ``page`` with a judgement.

    Args:
        page: The page.
        noise: Whether each node is noise by the judgement.
        file: The rules.
        by_nodes: Whether each node of text counts once, instead of each character.

    """
    by_rules = judge_by_rules(page, file)
    both = rules = judgement = 0
    for node, tag in enumerate(page.nodes.tags):
        if tag is not TEXT:
            continue
        weight = 1 if by_nodes else page.characters[node]
        if not by_rules[node] and not noise[node]:
            both += weight
        elif not by_rules[node]:
            rules += weight
        elif not noise[node]:
            judgement += weight
    return Agreement(both, rules, judgement, 1)
