"""Derives rules from judged pages of a site: where what is kept stands, and what is dropped in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.errors import SelectorError
from denoise_crawler.page import TEXT
from denoise_crawler.rules.agreement import Agreement, agreement
from denoise_crawler.rules.learned import LearnedRule, LearnedRules
from denoise_crawler.rules.path_selector import names_of
from denoise_crawler.rules.path_tree import PathTree
from denoise_crawler.rules.selectors import MAX_SELECTOR_CHARACTERS, find_nodes
from denoise_crawler.rules.short_selectors import ShortSelectors
from denoise_crawler.rules.site_file import BODY, STRIP, TITLE
from denoise_crawler.rules.value_rules import value_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from denoise_crawler.page import Page
    from denoise_crawler.rules.path_selector import PathSelector

MAX_PAGES = 50
MOST_RULES = 60
# What a rule has to mend, in pages of kept text for each page that is known.
PRICE = 0.004
_LEAST_PRICE = 0.02
# Where the content of a page often stands, the closest first.
_LANDMARKS = {
    "[itemprop=articleBody]": "//*[@itemprop='articleBody']",
    "article": "//article",
    "main": "//main",
    "[role=main]": "//*[@role='main']",
    "#content": "//*[@id='content']",
}
_LEAST_CLOSE = 0.6
_SEVERAL = 2
_FEW = 3  # pages: of fewer, a name with digits may belong to one page


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPage:
    """A page, and whether each of its nodes is noise."""

    page: Page
    noise: Sequence[bool]


def derive_rules(site: str, judged: Sequence[JudgedPage]) -> LearnedRules:
    """Derive the rules of a site.

    Args:
        site: The name of the site.
        judged: Pages of it, of which the first MAX_PAGES are used.

    Returns:
        The rules. Those that do not bring the result closer to the judgements are left out.

    Example:
        >>> from denoise_crawler import Page
        >>> html = "<div id=nav>Home Sport</div><div id=story>{} <p class=ad>Buy!</p></div>"
        >>> pages = [Page.parse(f"https://a.example/{n}", html.format("A story. " * (40 + n))) for n in range(4)]
        >>> judged = [JudgedPage(page, [False, True, True, False, False, True, True]) for page in pages]
        >>> [(rule.directive, rule.css, rule.pages) for rule in derive_rules("a.example", judged).rules]
        [('body', 'div#story', 4), ('strip', 'p.ad', 4)]

    """
    pages = [one for one in judged if TEXT in one.page.nodes.tags][:MAX_PAGES]
    learned = LearnedRules(site, pages=[one.page.url for one in pages])
    if not pages:
        return learned
    values = value_rules([one.page for one in pages])
    titles = [rule.xpath for rule in values if rule.directive == TITLE]
    marked = _most(_marked(pages, titles))
    learned.rules = _without_needless([*values, *marked], learned, pages)
    learned.rules += list(_landmarks(learned, pages))
    return learned


def _most(rules: Iterable[LearnedRule]) -> list[LearnedRule]:
    """Return the rules for the most text: so many that those of the body make up one selector that can be read."""
    found: list[LearnedRule] = []
    room = MAX_SELECTOR_CHARACTERS
    for rule in sorted(rules, key=lambda rule: -(rule.characters or 0.0)):
        room -= len(rule.xpath) + len(" | ") if rule.directive == BODY else 0
        if len(found) < MOST_RULES and (room >= 0 or rule.directive != BODY):
            found.append(rule)
    return found


def _landmarks(learned: LearnedRules, pages: Sequence[JudgedPage]) -> Iterator[LearnedRule]:
    """Yield rules for pages built in another way: landmarks that hold what is kept where these pages have them."""
    rest = [rule for rule in learned.rules if rule.directive != BODY]
    for css, xpath in _LANDMARKS.items():
        rule = LearnedRule(BODY, css, xpath, *_support(pages, xpath), otherwise=True)
        file = LearnedRules(learned.site, [*rest, rule]).file()
        having = [one for one in pages if _nodes(one.page, xpath)]
        close = sum((agreement(one.page, one.noise, file) for one in having), Agreement())
        if having and close.f1 >= _LEAST_CLOSE:
            yield rule


def _tree(pages: Sequence[JudgedPage], titles: Sequence[str]) -> PathTree:
    tree, known = PathTree(), _names_to_use([one.page for one in pages])
    for one in pages:
        found = [node for xpath in titles for node in _nodes(one.page, xpath)[:1]]
        title = range(found[0], one.page.nodes.ends[found[0]]) if found else range(0)
        tree.add(one.page, one.noise, known, title)
    return tree


def _rule(directive: str, selector: PathSelector, pages: Sequence[JudgedPage]) -> LearnedRule:
    return LearnedRule(directive, selector.css, selector.xpath, *_support(pages, selector.xpath))


def _marked(pages: Sequence[JudgedPage], titles: Sequence[str]) -> Iterator[LearnedRule]:
    """Yield a rule for each selector of the marks that tell content from noise."""
    tree = _tree(pages, titles)
    price = max(_LEAST_PRICE, PRICE * len(pages))
    marks = tree.marks(price, min(_SEVERAL, len(pages)))
    short = ShortSelectors(tree, marks, harm=price / 2)
    found: dict[tuple[str, PathSelector], None] = {}
    for number, keeps in marks.items():
        if number:
            found[BODY if keeps else STRIP, short.best(number)] = None
    for directive, selector in found:
        if (rule := _rule(directive, selector, pages)).pages:
            yield rule


def _nodes(page: Page, xpath: str) -> list[int]:
    """Return what a derived selector finds; nothing where it takes too much work, as when the rule is obeyed."""
    try:
        return find_nodes(page, xpath)
    except SelectorError:
        return []


def _names_to_use(pages: Sequence[Page]) -> frozenset[str]:
    """Return the ids (``#a``) and classes (``.a``) that several pages have: others belong to one page only."""
    counts = Counter[str]()
    for page in pages:
        names = {names_of(element) for element in page.nodes.elements}
        counts.update({f"#{one.id}" for one in names if one.id})
        counts.update({f".{name}" for one in names for name in one.classes})
    least = 2 if len(pages) >= _FEW else 1
    return frozenset(
        name for name, count in counts.items() if count >= least and (least > 1 or not _has_number(name))
    )


def _has_number(name: str) -> bool:
    return sum(map(str.isdigit, name)) > 2


def _support(pages: Sequence[JudgedPage], xpath: str) -> tuple[int, float]:
    """Return on how many pages a selector finds something, and the share of these pages' text in it."""
    support = found = whole = 0
    for one in pages:
        ends, end, characters = one.page.nodes.ends, 0, one.page.characters
        inside = 0
        for node in _nodes(one.page, xpath):
            if node >= end:
                end = ends[node]
                inside += sum(characters[node:end])
        if inside:
            support, found, whole = support + 1, found + inside, whole + sum(characters)
    return support, found / whole if whole else 0.0


def _without_needless(
    rules: list[LearnedRule], learned: LearnedRules, pages: Sequence[JudgedPage]
) -> list[LearnedRule]:
    """Leave out rules without which the result is as close to the judgements, those for the least text first."""

    def closeness(some: list[LearnedRule]) -> float:
        file = LearnedRules(learned.site, some).file()
        return sum((agreement(one.page, one.noise, file) for one in pages), Agreement()).f1

    kept, best = rules, closeness(rules)
    for rule in sorted(rules, key=lambda rule: rule.characters or 0.0):
        if rule.characters is None:
            continue
        without = [one for one in kept if one is not rule]
        if (f1 := closeness(without)) >= best - 1e-4:
            kept, best = without, max(best, f1)
    return kept
