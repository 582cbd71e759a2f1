"""Derives rules from judged pages of a site, and measures how far they alone reproduce the judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from operator import add

from denoise_crawler.errors import SelectorError
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.metadata import metadata_of
from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.rules.folder import AUTHOR, BODY, DATE, STRIP, TITLE, Rule, SiteFile
from denoise_crawler.rules.learned import LearnedRule, LearnedRules
from denoise_crawler.rules.obeying import judge_by_rules, values_of
from denoise_crawler.rules.path_tree import PathTree, ShortSelectors
from denoise_crawler.rules.selectors import MAX_SELECTOR_CHARACTERS, Names, PathSelector, find_nodes, names_of

# Places where many sites say it, tried after those of the page that readers see.
_DECLARED = {
    TITLE: ("//meta[@property='og:title']/@content", "//title"),
    AUTHOR: ("//meta[@name='author']/@content", "//a[@rel='author']", "//*[@itemprop='author']"),
    DATE: (
        *("//meta[@property='article:published_time']/@content", "//meta[@itemprop='datePublished']/@content"),
        *("//*[@itemprop='datePublished']", "//time/@datetime", "//time"),
    ),
}
_LEAST_SHARE = 0.5
_MOST_TRIED = 12
_SEEN = 1.2  # what readers see is worth more than what only the head declares
_MOST_EXTRA_CHARACTERS = 40  # "By Ana Ruiz, our correspondent in the north"
_TITLE_TAGS = frozenset({"h1", "h2", "h3"})
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
        return Agreement(*map(add, astuple(self), astuple(other)))

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
    """Compare what the rules of a file alone keep of ``page`` with a judgement, given as its ``noise``.

    With ``by_nodes`` each node of text counts once, instead of each character.
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


def value_rules(pages: Sequence[Page]) -> list[LearnedRule]:
    """Return a rule for each value that a place of the pages says on at least half of those that have it.

    Example:
        >>> html = "<title>{0} | A paper</title><h1 class=head>{0}</h1>"
        >>> pages = [Page.parse(f"https://a.example/{n}", html.format(f"Story {n}")) for n in range(3)]
        >>> [(rule.directive, rule.css, rule.pages) for rule in value_rules(pages)]
        [('title', 'h1.head', 3)]
    """
    said = [metadata_of(page) for page in pages]
    rules: list[LearnedRule] = []
    for directive in _DECLARED:
        values = {n: str(value) for n, one in enumerate(said) if (value := getattr(one, directive))}
        if values and (rule := _best_value_rule(directive, pages, values)) is not None:
            rules.append(rule)
    return rules


def _best_value_rule(directive: str, pages: Sequence[Page], values: dict[int, str]) -> LearnedRule | None:
    counts: Counter[PathSelector] = Counter()
    for number, value in values.items():
        counts.update(list(dict.fromkeys(_places(pages[number], directive, value))))
    tried = [selector for selector, _ in counts.most_common(_MOST_TRIED)]
    rules = [(selector.css, selector.xpath, _SEEN) for selector in tried]
    rules += [(xpath, xpath, 1.0) for xpath in _DECLARED[directive]]
    best, most = None, 0.0
    for css, xpath, worth in rules:
        file = SiteFile("", [Rule(directive, xpath)])
        right = sum(_says(directive, values_of(pages[n], file).get(directive, ""), values[n]) for n in values)
        if right >= max(1.0, _LEAST_SHARE * len(values)) and right * worth > most:
            best, most = LearnedRule(directive, css, xpath, right), right * worth
    return best


def _places(page: Page, directive: str, value: str) -> Iterator[PathSelector]:
    """Yield selectors of the elements of ``page`` that say ``value`` and little else."""
    if directive == DATE:
        return
    nodes, most = page.nodes, len(value) + _MOST_EXTRA_CHARACTERS
    for node, tag in enumerate(nodes.tags):
        if node and nodes.elements[node] is not nodes.elements[nodes.parents[node]]:
            is_long = sum(page.characters[node : nodes.ends[node]]) > most
            if is_long or (directive == TITLE and tag not in _TITLE_TAGS):
                continue
            said = collapse_spaces(" ".join(nodes.texts[node : nodes.ends[node]]))
            if said and _says(directive, said, value):
                names = names_of(nodes.elements[node])
                yield from (PathSelector((Names(names.tag, classes=(name,)),)) for name in names.classes)
                if names.id:
                    yield PathSelector((Names(names.tag, names.id),))
                if directive == TITLE:
                    yield PathSelector((Names(names.tag),))


def _says(directive: str, text: str, value: str) -> bool:
    """Return True if a place says a value; the title of a page is often followed by the name of its site."""
    if not text:
        return False
    if directive == TITLE:
        return text == value or (value.startswith(text) and 3 * len(text) >= len(value))
    if directive == DATE:
        return text[:10] == value[:10]
    return text == value


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPage:
    """A page, and whether each of its nodes is noise."""

    page: Page
    noise: Sequence[bool]


def derive_rules(site: str, judged: Sequence[JudgedPage]) -> LearnedRules:
    """Derive the rules of a site from the first MAX_PAGES of its pages.

    Rules that do not bring the result closer to the judgements are left out.

    Example:
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
    chosen: list[LearnedRule] = []
    room = MAX_SELECTOR_CHARACTERS
    for rule in sorted(rules, key=lambda rule: -(rule.characters or 0.0)):
        room -= len(rule.xpath) + len(" | ") if rule.directive == BODY else 0
        if len(chosen) < MOST_RULES and (room >= 0 or rule.directive != BODY):
            chosen.append(rule)
    return chosen


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
        places = [node for xpath in titles for node in _nodes(one.page, xpath)[:1]]
        title = range(places[0], one.page.nodes.ends[places[0]]) if places else range(0)
        tree.add(one.page, one.noise, known, title)
    return tree


def _marked(pages: Sequence[JudgedPage], titles: Sequence[str]) -> Iterator[LearnedRule]:
    """Yield a rule for each selector of the marks that tell content from noise."""
    tree = _tree(pages, titles)
    price = max(_LEAST_PRICE, PRICE * len(pages))
    marks = tree.marks(price, min(_SEVERAL, len(pages)))
    short = ShortSelectors(tree, marks, harm=price / 2)
    selectors: dict[tuple[str, PathSelector], None] = {}
    for number, keeps in marks.items():
        if number:
            selectors[BODY if keeps else STRIP, short.best(number)] = None
    for directive, selector in selectors:
        rule = LearnedRule(directive, selector.css, selector.xpath, *_support(pages, selector.xpath))
        if rule.pages:
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
    if len(pages) >= _FEW:
        return frozenset(name for name, count in counts.items() if count > 1)
    return frozenset(name for name in counts if sum(map(str.isdigit, name)) <= 2)


def _support(pages: Sequence[JudgedPage], xpath: str) -> tuple[int, float]:
    """Return on how many pages a selector finds something, and the share of these pages' text in it."""
    support = inside = whole = 0
    for one in pages:
        ends, end, characters = one.page.nodes.ends, 0, one.page.characters
        here = 0
        for node in _nodes(one.page, xpath):
            if node >= end:
                end = ends[node]
                here += sum(characters[node:end])
        if here:
            support, inside, whole = support + 1, inside + here, whole + sum(characters)
    return support, inside / whole if whole else 0.0


def _without_needless(
    rules: list[LearnedRule], learned: LearnedRules, pages: Sequence[JudgedPage]
) -> list[LearnedRule]:
    """Leave out rules without which the result is as close to the judgements, those for the least text first."""

    def closeness(some: list[LearnedRule]) -> float:
        file = LearnedRules(learned.site, some).file()
        return sum((agreement(one.page, one.noise, file) for one in pages), Agreement()).f1

    kept, best = rules, closeness(rules)
    marks = [rule for rule in rules if rule.characters is not None]
    for rule in sorted(marks, key=lambda rule: rule.characters or 0.0):
        without = [one for one in kept if one is not rule]
        if (f1 := closeness(without)) >= best - 1e-4:
            kept, best = without, max(best, f1)
    return kept
