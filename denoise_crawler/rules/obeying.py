"""Obeys the rules of a site: they decide about nodes before any evidence, and find the title, author and date."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from lxml import etree

from denoise_crawler.errors import SelectorError
from denoise_crawler.methods import Judgement
from denoise_crawler.methods.guard import leaves_next_to_nothing
from denoise_crawler.page import Element, Page
from denoise_crawler.page.dates import iso_date
from denoise_crawler.page.text import collapse_spaces, printable, without_controls, without_lone_surrogates
from denoise_crawler.rules.folder import (
    AUTHOR,
    BODY,
    BY_NAME,
    DATE,
    KEEP,
    STRIP,
    THIS_RUN,
    TITLE,
    VALUES,
    Rule,
    SiteFile,
)
from denoise_crawler.rules.selectors import find, find_nodes

logger = logging.getLogger(__name__)

MAX_VALUE_CHARACTERS = 500
_MAX_AUTHORS = 20
_BY = re.compile(r"\Aby\s+", re.IGNORECASE)


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
    several ``body`` rules the first that finds anything is obeyed, as is that of several ``title`` rules. Rules
    of this run come before those of the file. The text begins with the title if ``keeps_title`` says so.

    Example:
        >>> from denoise_crawler.rules.folder import parse_site_file
        >>> page = Page.parse("", "<nav>Home</nav><main>A story.<p class=ad>Buy!</main>")
        >>> rules = parse_site_file("body: main" + chr(10) + "strip_id_or_class: ad", "a.example.txt")
        >>> print(decisions(page, rules)[-1])
        a.example.txt, line 2: strip_id_or_class: ad
    """
    marks: dict[int, Decision] = {}
    outside: Decision | None = None
    for rule in file.of(BODY):
        if body := _nodes_of(page, rule):
            outside = Decision(rule, kept=False, outside=True)
            marks.update(dict.fromkeys(body, Decision(rule, None if file.prunes else True)))
            break
    for rule in file.written(STRIP, *BY_NAME):
        marks.update(dict.fromkeys(_nodes_of(page, rule), Decision(rule, kept=False)))
    for rule in file.of(TITLE):
        ends = page.nodes.ends
        if title := [node for node in _nodes_of(page, rule) if any(page.characters[node : ends[node]])]:
            marks[title[0]] = Decision(rule, keeps_title)
            break
    for rule in file.written(KEEP):
        marks.update(dict.fromkeys(_nodes_of(page, rule), Decision(rule, kept=True)))
    return _inherited(page, _with_those_of_run(page, marks, file), outside)


def _with_those_of_run(page: Page, marks: dict[int, Decision], file: SiteFile) -> dict[int, Decision]:
    """Return ``marks`` with those of the rules of this run: inside of what they find no other is obeyed."""
    rules = [rule for name in (STRIP, KEEP) for rule in file.of(name) if rule.file == THIS_RUN]
    of_run = {node: Decision(rule, rule.directive == KEEP) for rule in rules for node in _nodes_of(page, rule)}
    end = 0
    for node in sorted(of_run):
        for inner in range(max(node, end), page.nodes.ends[node]):
            marks.pop(inner, None)
        end = max(end, page.nodes.ends[node])
    return marks | of_run


def obey(page: Page, judgement: Judgement, file: SiteFile, *, keeps_title: bool = True) -> Judgement:
    """Return a judgement in which the rules of a file are obeyed, as :func:`decisions` says.

    Returns:
        The judgement with ``obeyed``; as it was if no rule finds anything, and with ``passed_over`` if the rules
        would leave next to nothing of what the method keeps. Its ``confidence`` is None if a ``body`` rule has
        chosen the text.
    """
    decided = decisions(page, file, keeps_title=keeps_title)
    if not any(decided):
        return judgement
    noise = _noise(page, judgement.noise, decided)
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
    return _noise(page, [False] * len(page.nodes), decisions(page, file))


def _nodes_of(page: Page, rule: Rule) -> list[int]:
    try:
        return find_nodes(page, rule.selector)
    except SelectorError as error:  # XPath shows some mistakes only on some pages
        _warn_once(f"{rule}: {printable(error)}")
        return []


def _inherited(page: Page, marks: dict[int, Decision], outside: Decision | None) -> list[Decision | None]:
    decided: list[Decision | None] = []
    for node, parent in enumerate(page.nodes.parents):
        decided.append(marks.get(node) or (decided[parent] if node else outside))
    return decided


def _noise(page: Page, judged: list[bool], decided: list[Decision | None]) -> list[bool]:
    """Return the noise as decided. What stands around a kept node is kept, since what is below noise is noise."""
    noise = [
        gone if decision is None or decision.kept is None else not decision.kept
        for gone, decision in zip(judged, decided, strict=True)
    ]
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


def values_of(page: Page, file: SiteFile) -> dict[str, str]:
    """Return what the rules of a file find of ``title``, ``author`` and ``date`` (ISO 8601).

    Of several rules for the same value, the first that finds one is obeyed.

    Example:
        >>> from denoise_crawler.rules.folder import parse_site_file
        >>> page = Page.parse("", "<h1>Storm</h1><time datetime=2024-05-01>yesterday</time>")
        >>> values_of(page, parse_site_file("title: h1" + chr(10) + "date: time"))
        {'title': 'Storm', 'date': '2024-05-01'}
    """
    values = dict[str, str]()
    for name in VALUES:
        for rule in file.of(name):
            if value := _VALUE_READERS[name](list(_texts(page, rule))):
                values[name] = value
                break
    return values


def _texts(page: Page, rule: Rule) -> Iterator[str]:
    try:
        places = find(page, rule.selector)
    except SelectorError as error:
        _warn_once(f"{rule}: {printable(error)}")
        return
    for one in places:
        text = one if isinstance(one, str) else _value_of(one, rule.directive)
        if text := without_controls(collapse_spaces(without_lone_surrogates(text))):
            yield text


def _value_of(element: Element, directive: str) -> str:
    said = element.get("content") or (element.get("datetime") if directive == DATE else None)
    return said or str(etree.tostring(element, method="text", encoding="unicode", with_tail=False))


def _first_short(texts: list[str]) -> str:
    return next((text for text in texts if len(text) <= MAX_VALUE_CHARACTERS), "")


def _authors(texts: list[str]) -> str:
    short = [name for name in (_BY.sub("", text, count=1) for text in texts) if len(name) <= MAX_VALUE_CHARACTERS]
    return "; ".join(list(dict.fromkeys(short))[:_MAX_AUTHORS])


def _first_date(texts: list[str]) -> str:
    return next(filter(None, map(iso_date, texts)), "")


_VALUE_READERS = {TITLE: _first_short, AUTHOR: _authors, DATE: _first_date}


@lru_cache(maxsize=1_024)
def _warn_once(message: str) -> None:
    """Warn that a rule is passed over on a page, once for a rule and a mistake."""
    logger.warning("%s", message)
