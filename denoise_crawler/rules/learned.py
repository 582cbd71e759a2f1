"""Rules that were derived from judged pages, and what each rests on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from denoise_crawler.page.text import counted, printable
from denoise_crawler.rules.folder import AUTHOR, BODY, DATE, KEEP, PRUNE, STRIP, TEST_URL, TITLE, Rule, SiteFile


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """One rule: its directive, its selector as CSS and as XPath, and on how many ``pages`` it finds something.

    ``characters`` is the share of their text in what it finds; None for a value, such as the title. A rule of the
    body ``otherwise`` is for pages where those before it find nothing.
    """

    directive: str
    css: str
    xpath: str
    pages: int
    characters: float | None = None
    otherwise: bool = False


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
        """Return the rules as a file; all selectors of the body but those ``otherwise`` make up one rule."""
        body = " | ".join(rule.xpath for rule in self.of(BODY) if not rule.otherwise)
        rules = [Rule(BODY, body)] if body else []
        rules += [Rule(BODY, rule.xpath) for rule in self.of(BODY) if rule.otherwise]
        rules += [Rule(PRUNE, "no")] if rules else []
        rules += [Rule(rule.directive, rule.xpath) for rule in self.rules if rule.directive != BODY]
        return SiteFile(self.site, rules)


MOST_TEST_URLS = 3
_WIDTH = 60
_HEADS = {
    BODY: "the content stands in",
    KEEP: "kept wherever it stands",
    STRIP: "stripped",
    TITLE: "title",
    AUTHOR: "author",
    DATE: "date",
}


def as_text(learned: LearnedRules) -> str:
    """Write rules for people, with selectors in CSS."""
    whole = len(learned.pages)
    lines = [printable(f"{learned.site}: derived from {counted(whole, 'judged page')}")]
    for directive, head in _HEADS.items():
        rules = learned.of(directive)
        lines += ["", head] if rules else []
        width = max((len(rule.css) for rule in rules), default=0)
        for rule in rules:
            share = "" if rule.characters is None else f", {rule.characters:.0%} of their text"
            when = ", if nothing above is found" if rule.otherwise else ""
            lines.append(
                f"  {rule.css:{min(width, _WIDTH)}}  {rule.pages} of {counted(whole, 'page')}{share}{when}"
            )
    return "\n".join([*lines, *([] if learned.rules else ["", "no rule tells content from noise here"])])


def as_data(learned: LearnedRules) -> dict[str, Any]:
    """Return rules as data for JSON."""
    return {"site": learned.site, "pages": len(learned.pages), "rules": [asdict(rule) for rule in learned.rules]}


def as_site_file(learned: LearnedRules) -> str:
    """Write rules in the format of ftr-site-config.

    Example:
        >>> rule = LearnedRule("body", "div#story", "//div[@id='story']", 4, 0.5)
        >>> print(as_site_file(LearnedRules("a.example", [rule], ["https://a.example/1"])), end="")
        # a.example: derived from 1 judged page
        <BLANKLINE>
        # on 4 pages
        body: //div[@id='story']
        prune: no
        <BLANKLINE>
        test_url: https://a.example/1
    """
    lines = [printable(f"# {learned.site}: derived from {counted(len(learned.pages), 'judged page')}")]
    before = ""
    for rule in learned.file().rules:
        origins = [one for one in learned.of(rule.directive) if one.xpath in rule.value.split(" | ")]
        if rule.directive not in (before, PRUNE):
            lines.append("")
        before = rule.directive
        if origins:
            lines.append(f"# on {', '.join(f'{one.pages:,}' for one in origins)} pages")
        lines.append(f"{rule.directive}: {rule.value}")
    # an address with a line break would write a line of its own
    urls = [url for url in learned.pages if url.isprintable()][:MOST_TEST_URLS]
    return "\n".join([*lines, "", *(f"{TEST_URL}: {url}" for url in urls)]) + "\n"
