"""Rules for the title, author and date of a site: the places that say most often what its metadata says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from denoise_crawler.page.metadata import metadata_of
from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.rules.learned import LearnedRule
from denoise_crawler.rules.path_selector import Names, PathSelector, names_of
from denoise_crawler.rules.site_file import AUTHOR, DATE, TITLE, Rule, SiteFile
from denoise_crawler.rules.values import values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from denoise_crawler.page import Page

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


def value_rules(pages: Sequence[Page]) -> list[LearnedRule]:
    """Return a rule for each value that a place of the pages says on at least half of those that have it.

    Example:
        >>> from denoise_crawler import Page
        >>> html = "<title>{0} | A paper</title><h1 class=head>{0}</h1>"
        >>> pages = [Page.parse(f"https://a.example/{n}", html.format(f"Story {n}")) for n in range(3)]
        >>> [(rule.directive, rule.css, rule.pages) for rule in value_rules(pages)]
        [('title', 'h1.head', 3)]

    """
    said = [metadata_of(page) for page in pages]
    found: list[LearnedRule] = []
    for directive in _DECLARED:
        values = {n: str(value) for n, one in enumerate(said) if (value := getattr(one, directive))}
        if values and (rule := _best(directive, pages, values)) is not None:
            found.append(rule)
    return found


def _best(directive: str, pages: Sequence[Page], values: dict[int, str]) -> LearnedRule | None:
    counts: Counter[PathSelector] = Counter()
    for number, value in values.items():
        counts.update(list(dict.fromkeys(_places(pages[number], directive, value))))
    tried = [selector for selector, _ in counts.most_common(_MOST_TRIED)]
    rules = [(selector.css, selector.xpath, _SEEN) for selector in tried]
    rules += [(xpath, xpath, 1.0) for xpath in _DECLARED[directive]]
    best, most = None, 0.0
    for css, xpath, worth in rules:
        file = SiteFile("", [Rule(directive, xpath)])
        right = sum(_agree(directive, values_of(pages[n], file).get(directive, ""), values[n]) for n in values)
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
            if sum(page.characters[node : nodes.ends[node]]) > most or (
                directive == TITLE and tag not in _TITLE_TAGS
            ):
                continue
            said = collapse_spaces(" ".join(nodes.texts[node : nodes.ends[node]]))
            if said and _agree(directive, said, value):
                names = names_of(nodes.elements[node])
                yield from (PathSelector((Names(names.tag, classes=(name,)),)) for name in names.classes)
                if names.id:
                    yield PathSelector((Names(names.tag, names.id),))
                if directive == TITLE:
                    yield PathSelector((Names(names.tag),))


def _agree(directive: str, found: str, value: str) -> bool:
    """Tell whether a place says a value; the title of a page is often followed by the name of its site."""
    if not found:
        return False
    if directive == TITLE:
        return found == value or (value.startswith(found) and 3 * len(found) >= len(value))
    if directive == DATE:
        return found[:10] == value[:10]
    return found == value
