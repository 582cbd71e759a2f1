"""Applies the rules of a site: they override the verdicts of the method, and give the title, author and date."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from lxml import etree

from denoise_crawler.errors import SelectorError
from denoise_crawler.methods import Judgement
from denoise_crawler.methods.base import spare_holders
from denoise_crawler.methods.guard import leaves_next_to_nothing
from denoise_crawler.page import Element, Page
from denoise_crawler.page.date_parsing import iso_date
from denoise_crawler.page.text import collapse_spaces, printable, without_controls, without_lone_surrogates
from denoise_crawler.rules import (
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

T = TypeVar("T")

SLOW_SECONDS = 1.0  # of CPU on one page: a rule that takes longer is named in a warning
MAX_VALUE_CHARACTERS = 500
_MAX_AUTHORS = 20
_BY = re.compile(r"\Aby\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict of a rule on a node and its descendants; ``kept`` is None where the method decides."""

    rule: Rule
    kept: bool | None
    outside: bool = False

    def __str__(self) -> str:
        return f"{self.rule}{' (outside of it)' if self.outside else ''}"


def decisions(page: Page, file: SiteFile, *, keeps_title: bool = True) -> list[Decision | None]:
    """Return for each node the decision of the rules of a file, None where no rule applies.

    The rule that matches the closest ancestor decides: what ``strip`` matches inside the body is dropped, what
    ``keep`` matches inside that is kept. Of several ``body`` rules only the first that matches anything applies,
    and so with ``title``. Rules of this run override those of the file.

    Args:
        page: The page.
        file: The rules.
        keeps_title: Whether the title is part of the text.

    Example:
        >>> from denoise_crawler.rules import parse_site_file
        >>> page = Page.parse("", "<nav>Home</nav><main>A story.<p class=ad>Buy!</main>")
        >>> rules = parse_site_file("body: main" + chr(10) + "strip_id_or_class: ad", "a.example.txt")
        >>> print(decisions(page, rules)[-1])
        a.example.txt, line 2: strip_id_or_class: ad
    """
    marks: dict[int, Decision] = {}
    outside: Decision | None = None
    for rule in file.of(BODY):
        if body := _matches(rule, find_nodes, page):
            outside = Decision(rule, kept=False, outside=True)
            marks.update(dict.fromkeys(body, Decision(rule, None if file.prunes else True)))
            break
    for rule in file.in_file(STRIP, *BY_NAME):
        marks.update(dict.fromkeys(_matches(rule, find_nodes, page), Decision(rule, kept=False)))
    for rule in file.of(TITLE):
        ends = page.nodes.ends
        titles = _matches(rule, find_nodes, page)
        if title := [node for node in titles if any(page.characters[node : ends[node]])]:
            marks[title[0]] = Decision(rule, keeps_title)
            break
    for rule in file.in_file(KEEP):
        marks.update(dict.fromkeys(_matches(rule, find_nodes, page), Decision(rule, kept=True)))
    return _inherited(page, _override_by_run(page, marks, file), outside)


def _override_by_run(page: Page, marks: dict[int, Decision], file: SiteFile) -> dict[int, Decision]:
    """Return ``marks`` with those of the rules of this run; inside of what these match no other rule applies."""
    rules = [rule for name in (STRIP, KEEP) for rule in file.of(name) if rule.file == THIS_RUN]
    of_run = {
        node: Decision(rule, rule.directive == KEEP) for rule in rules for node in _matches(rule, find_nodes, page)
    }
    end = 0
    for node in sorted(of_run):
        for inner in range(max(node, end), page.nodes.ends[node]):
            marks.pop(inner, None)
        end = max(end, page.nodes.ends[node])
    return marks | of_run


def apply_rules(page: Page, judgement: Judgement, file: SiteFile, *, keeps_title: bool = True) -> Judgement:
    """Return a judgement that the :func:`decisions` of a file override.

    Returns:
        The judgement with ``rules_applied``; unchanged if no rule matches, and with ``passed_over`` if the rules
        would leave next to nothing of what the method keeps. Its ``confidence`` is None if a ``body`` rule has
        selected the text.
    """
    decided = decisions(page, file, keeps_title=keeps_title)
    if not any(decided):
        return judgement
    noise = _noise(page, judgement.noise, decided)
    if leaves_next_to_nothing(page, noise, judgement.noise):
        why = f"{file.name} is passed over: its rules leave next to nothing of this page"
        return judgement.because(why, passed_over=file.name)

    def reason(index: int) -> str:
        decision = decided[index]
        return judgement.reason(index) if decision is None or decision.kept is None else str(decision)

    chosen = any(item is not None and item.rule.directive == BODY and item.kept is not None for item in decided)
    return replace(
        judgement,
        noise=noise,
        reason=reason,
        rules_applied=file.name,
        confidence=None if chosen and not file.prunes else judgement.confidence,
    )


def _matches(rule: Rule, find: Callable[[Page, str], list[T]], page: Page) -> list[T]:
    """Return what ``find`` finds of a rule in a page; log once if that fails, or takes long."""
    begin = time.thread_time()
    try:
        return find(page, rule.selector)
    except SelectorError as error:  # some mistakes in XPath show only on some pages
        _warn_once(f"{rule}: {printable(error)}")
        return []
    finally:
        if (seconds := time.thread_time() - begin) > SLOW_SECONDS:
            _warn_of_slow(rule, page.url, seconds)


def _inherited(page: Page, marks: dict[int, Decision], outside: Decision | None) -> list[Decision | None]:
    decided: list[Decision | None] = []
    for node, parent in enumerate(page.nodes.parents):
        decided.append(marks.get(node) or (decided[parent] if node else outside))
    return decided


def _noise(page: Page, judged: list[bool], decided: list[Decision | None]) -> list[bool]:
    """Return the noise by node. The ancestors of a kept node are kept, since what is below noise is noise."""
    noise = [
        gone if decision is None or decision.kept is None else not decision.kept
        for gone, decision in zip(judged, decided, strict=True)
    ]
    return spare_holders(noise, page.nodes.parents)


def values_of(page: Page, file: SiteFile) -> dict[str, str]:
    """Return the ``title``, ``author`` and ``date`` (ISO 8601) that the rules of a file match.

    Of several rules for the same value, the first that matches one applies.

    Example:
        >>> from denoise_crawler.rules import parse_site_file
        >>> page = Page.parse("", "<h1>Storm</h1><time datetime=2024-05-01>yesterday</time>")
        >>> values_of(page, parse_site_file("title: h1" + chr(10) + "date: time"))
        {'title': 'Storm', 'date': '2024-05-01'}
    """
    values = dict[str, str]()
    for name in VALUES:
        for rule in file.of(name):
            if value := _CHOOSE[name](list(_texts(page, rule))):
                values[name] = value
                break
    return values


def _texts(page: Page, rule: Rule) -> Iterator[str]:
    for match in _matches(rule, find, page):
        text = match if isinstance(match, str) else _value_of(match, rule.directive)
        if text := without_controls(collapse_spaces(without_lone_surrogates(text))):
            yield text


def _value_of(element: Element, directive: str) -> str:
    declared = element.get("content") or (element.get("datetime") if directive == DATE else None)
    return declared or str(etree.tostring(element, method="text", encoding="unicode", with_tail=False))


def _first_short(texts: list[str]) -> str:
    return next((text for text in texts if len(text) <= MAX_VALUE_CHARACTERS), "")


def _authors(texts: list[str]) -> str:
    short = [name for name in (_BY.sub("", text, count=1) for text in texts) if len(name) <= MAX_VALUE_CHARACTERS]
    return "; ".join(list(dict.fromkeys(short))[:_MAX_AUTHORS])


def _first_date(texts: list[str]) -> str:
    return next(filter(None, map(iso_date, texts)), "")


_CHOOSE = {TITLE: _first_short, AUTHOR: _authors, DATE: _first_date}


@lru_cache(maxsize=1_024)
def _warn_once(message: str) -> None:
    logger.warning("%s", message)


_slow: set[Rule] = set()


def _warn_of_slow(rule: Rule, url: str, seconds: float) -> None:
    if rule not in _slow:
        _slow.add(rule)
        logger.warning("%s takes long: %.1f s on %s", rule, seconds, printable(url))
