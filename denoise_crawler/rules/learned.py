"""Rules that were derived from judged pages, and what each rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.rules.site_file import BODY, PRUNE, TEST_URL, Rule, SiteFile

if TYPE_CHECKING:
    from denoise_crawler.rules.path_selector import PathSelector


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """One rule: its directive, its selector as CSS and as XPath, and on how many ``pages`` it finds something.

    ``characters`` is the share of their text in what it finds; None for a value, such as the title.
    """

    directive: str
    css: str
    xpath: str
    pages: int
    characters: float | None = None

    @classmethod
    def of(cls, directive: str, selector: PathSelector, pages: int, characters: float | None = None) -> LearnedRule:
        """Return the rule with this selector."""
        return cls(directive, selector.css, selector.xpath, pages, characters)


@dataclass(slots=True)
class LearnedRules:
    """The rules of a site, and the ``pages`` that they were derived from, by address."""

    site: str
    rules: list[LearnedRule] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)

    def of(self, directive: str) -> list[LearnedRule]:
        """Return the rules with this directive."""
        return [rule for rule in self.rules if rule.directive == directive]

    def file(self) -> SiteFile:
        """Return the rules as a file; all selectors of the body make up one rule."""
        body = " | ".join(rule.xpath for rule in self.of(BODY))
        rules = [Rule(BODY, body)] if body else []
        rules += [Rule(rule.directive, rule.xpath) for rule in self.rules if rule.directive != BODY]
        return SiteFile(self.site, [*rules, *([Rule(PRUNE, "no")] if body else [])])


MOST_TEST_URLS = 3


def as_site_file(learned: LearnedRules) -> str:
    """Write rules in the format of ftr-site-config."""
    whole = len(learned.pages)
    lines = [f"# {learned.site}: derived from {whole} judged page{'' if whole == 1 else 's'}"]
    before = ""
    for rule in learned.file().rules:
        found = [one for one in learned.of(rule.directive) if rule.directive == BODY or one.xpath == rule.value]
        if rule.directive == PRUNE:
            lines.append(f"{PRUNE}: {rule.value}")
            continue
        if rule.directive != before:
            lines.append("")
        before = rule.directive
        support = ", ".join(f"{one.pages}" for one in found)
        lines += [f"# on {support} of {whole} pages", f"{rule.directive}: {rule.value}"]
    return "\n".join([*lines, "", *(f"{TEST_URL}: {url}" for url in learned.pages[:MOST_TEST_URLS])]) + "\n"
