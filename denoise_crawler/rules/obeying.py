"""Obeys the rules of a page's site: they decide about nodes before any evidence does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from denoise_crawler.errors import SelectorError
from denoise_crawler.methods.guard import leaves_next_to_nothing
from denoise_crawler.rules.selectors import find_nodes, name_once
from denoise_crawler.rules.site_file import BODY, BY_NAME, KEEP, STRIP, TITLE

if TYPE_CHECKING:
    from denoise_crawler.methods import Judgement
    from denoise_crawler.page import Page
    from denoise_crawler.rules.site_file import Rule, SiteFile


@dataclass(frozen=True, slots=True)
class Decision:
    """What a rule says of a node and of all below it; ``kept`` is None where the method decides."""

    rule: Rule
    kept: bool | None
    outside: bool = False

    def __str__(self) -> str:
        return f"{self.rule}{' (outside of it)' if self.outside else ''}"


def decisions(page: Page, file: SiteFile, *, keeps_title: bool = True) -> list[Decision | None]:
    """Return by node what the rules of a file say; None where they say nothing.

    The rule closest to a node decides: what is stripped inside the body goes, what is kept inside that stays. Of
    several ``body`` rules the first that finds anything is obeyed, as is that of several ``title`` rules.

    Args:
        page: The page.
        file: The rules of its host.
        keeps_title: Whether the text begins with the title.

    Example:
        >>> from denoise_crawler import Page
        >>> from denoise_crawler.rules.site_file import parse_site_file
        >>> page = Page.parse("", "<nav>Home</nav><main>A story.<p class=ad>Buy!</main>")
        >>> rules = parse_site_file("body: main" + chr(10) + "strip_id_or_class: ad", "a.example.txt")
        >>> print(decisions(page, rules)[-1])
        a.example.txt, line 2: strip_id_or_class: ad

    """
    marks: dict[int, Decision] = {}
    outside: Decision | None = None
    for rule in file.of(BODY):
        if body := _found(page, rule):
            outside = Decision(rule, kept=False, outside=True)
            marks.update(dict.fromkeys(body, Decision(rule, None if file.prunes else True)))
            break
    for rule in file.of(STRIP, *BY_NAME):
        marks.update(dict.fromkeys(_found(page, rule), Decision(rule, kept=False)))
    for rule in file.of(TITLE):
        if title := [node for node in _found(page, rule) if _has_text(page, node)]:
            marks[title[0]] = Decision(rule, keeps_title)
            break
    for rule in file.of(KEEP):
        marks.update(dict.fromkeys(_found(page, rule), Decision(rule, kept=True)))
    return _inherited(page, marks, outside)


def obey(page: Page, judgement: Judgement, file: SiteFile, *, keeps_title: bool = True) -> Judgement:
    """Return a judgement in which the rules of a file are obeyed.

    Args:
        page: The page.
        judgement: What the method says of it.
        file: The rules of its host.
        keeps_title: Whether the text begins with the title.

    Returns:
        The judgement with ``obeyed``; as it was if no rule finds anything, and with ``passed_over`` if the rules
        would leave next to nothing of what the method keeps. Its ``confidence`` is None if a ``body`` rule has
        chosen the text.

    """
    decided = decisions(page, file, keeps_title=keeps_title)
    if not any(decided):
        return judgement
    noise = _with_parents_kept(page, _noise(judgement.noise, decided))
    if leaves_next_to_nothing(page, noise, judgement.noise):
        return _passed_over(judgement, file)

    def reason(index: int) -> str:
        decision = decided[index]
        return judgement.reason(index) if decision is None or decision.kept is None else str(decision)

    chosen = any(one is not None and one.rule.directive == BODY and one.kept is not None for one in decided)
    return replace(
        judgement,
        noise=noise,
        reason=reason,
        obeyed=file.name,
        confidence=None if chosen and not file.prunes else judgement.confidence,
    )


def judge_by_rules(page: Page, file: SiteFile) -> list[bool]:
    """Return whether each node is noise by the rules of a file alone; what they say nothing of is kept."""
    return _with_parents_kept(page, _noise([False] * len(page.nodes), decisions(page, file)))


def _found(page: Page, rule: Rule) -> list[int]:
    try:
        return find_nodes(page, rule.selector)
    except SelectorError as error:  # XPath shows some mistakes only on some pages
        name_once(rule, error)
        return []


def _has_text(page: Page, node: int) -> bool:
    return any(page.characters[node : page.nodes.ends[node]])


def _inherited(page: Page, marks: dict[int, Decision], outside: Decision | None) -> list[Decision | None]:
    decided: list[Decision | None] = []
    for node, parent in enumerate(page.nodes.parents):
        decided.append(marks.get(node) or (decided[parent] if node else outside))
    return decided


def _noise(judged: list[bool], decided: list[Decision | None]) -> list[bool]:
    return [
        noise if decision is None or decision.kept is None else not decision.kept
        for noise, decision in zip(judged, decided, strict=True)
    ]


def _with_parents_kept(page: Page, noise: list[bool]) -> list[bool]:
    """Keep what stands around a node that is kept, since what is below noise is noise."""
    parents, result = page.nodes.parents, list(noise)
    for node, gone in enumerate(noise):
        above = -1 if gone else parents[node]
        while above >= 0 and result[above]:
            result[above] = False
            above = parents[above]
    return result


def _passed_over(judgement: Judgement, file: SiteFile) -> Judgement:
    because = f"{file.name} is passed over: its rules leave next to nothing of this page"

    def reason(index: int) -> str:
        own = judgement.reason(index)
        return f"{own} ({because})" if own else because

    return replace(judgement, reason=reason, passed_over=file.name)
