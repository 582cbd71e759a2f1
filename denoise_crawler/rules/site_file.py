"""The file of a site's rules: one directive a line, in the format of ftr-site-config.

``body: //div[@id='story']`` says where the content stands, ``strip:`` what goes. Selectors may be CSS as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.errors import SelectorError
from denoise_crawler.page.text import printable
from denoise_crawler.rules.selectors import compile_selector

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_RULES = 2_000
# Where the content stands, what goes, what stays wherever it stands.
MARKS = BODY, STRIP, KEEP = "body", "strip", "keep"
VALUES = TITLE, AUTHOR, DATE = "title", "author", "date"
WITH_SELECTOR = frozenset({*MARKS, *VALUES})
# Written with a part of a name instead of a selector; each is a way to write ``strip``.
BY_NAME = {
    "strip_id_or_class": "//*[contains(@id, {0}) or contains(@class, {0})]",
    "strip_image_src": "//img[contains(@src, {0})]",
}
PRUNE, TEST_URL = "prune", "test_url"
THIS_RUN = "this run"  # where rules stand that are in no file
OBEYED = frozenset({*WITH_SELECTOR, *BY_NAME, PRUNE})
# Directives of the format that are known and passed over: they change the page's source or say what to fetch.
PASSED_OVER = frozenset(
    {TEST_URL, "test_contains", "single_page_link", "single_page_link_in_feed", "next_page_link", "tidy", "parser"}
    | {"replace_string", "find_string", "http_header", "convert_double_br_tags", "autodetect_on_failure"}
    | {"autodetect_next_page", "skip_json_ld", "skip_id_or_class", "strip_attr", "strip_comments", "dissolve"}
    | {"wrap_in", "move_into", "footnotes", "native_ad_clue", "if_page_contains", "insert_detected_image"}
    | {"src_lazy_load_attr", "requires_login", "login_uri", "login_username_field", "login_password_field"}
    | {"login_extra_fields", "not_logged_in_xpath", "post_strip_attr", "strip_id_or_class_in_feed"}
)
_LINE = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<argument>.*?)\))?\s*:(?P<value>.*)", re.DOTALL)
_QUOTES = str.maketrans("", "", "'\"")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a file: what it says (``directive``), the ``value`` as it was written, and where it stands.

    Example:
        >>> str(Rule("strip", "div.ad", "example.com.txt", 3))
        'example.com.txt, line 3: strip: div.ad'

    """

    directive: str
    value: str
    file: str = ""
    line: int = 0

    @property
    def selector(self) -> str:
        """The selector, also of a rule that was written with a part of a name."""
        if pattern := BY_NAME.get(self.directive):
            return pattern.format(f"'{self.value.translate(_QUOTES)}'")
        return self.value

    def __str__(self) -> str:
        where = (f"{self.file}, line {self.line}: " if self.line else f"{self.file}: ") if self.file else ""
        return printable(f"{where}{self.directive}: {self.value}")


@dataclass(slots=True)
class SiteFile:
    """The rules of a file in order, and what is wrong with its other lines."""

    name: str
    rules: list[Rule] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def of(self, *directives: str) -> list[Rule]:
        """Return the rules with these directives."""
        return [rule for rule in self.rules if rule.directive in directives]

    def written(self, *directives: str) -> list[Rule]:
        """Return the rules with these directives, without those of this run."""
        return [rule for rule in self.of(*directives) if rule.file != THIS_RUN]

    @property
    def prunes(self) -> bool:
        """Whether the method judges inside the body as well: the file says ``prune: yes``."""
        return any(rule.value.lower() == "yes" for rule in self.of(PRUNE)[-1:])


def parse_site_file(text: str, name: str = "") -> SiteFile:
    r"""Read the lines of a file. A wrong line is named in ``problems`` and passed over.

    Args:
        text: The file.
        name: Its name, for messages.

    Returns:
        The rules, without the directives that are passed over.

    Example:
        >>> found = parse_site_file("body: div.story\n# a comment\nstrip //p\nstirp: p.ad", "a.example.txt")
        >>> for rule in found.rules:
        ...     print(rule)
        a.example.txt, line 1: body: div.story
        >>> for problem in found.problems:
        ...     print(problem)
        a.example.txt, line 3: 'strip //p' has no colon
        a.example.txt, line 4: there is no directive 'stirp'; did you mean 'strip'?

    """
    file = SiteFile(name)
    for number, line in _lines(text):
        if len(file.rules) >= MAX_RULES:
            file.problems.append(f"{name}, line {number}: only the first {MAX_RULES:,} rules of a file are read")
            break
        try:
            if rule := _parse_line(line, name, number):
                file.rules.append(rule)
        except ValueError as error:
            file.problems.append(printable(f"{name}, line {number}: {error}"))
    return file


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if (stripped := line.strip()) and not stripped.startswith("#"):
            yield number, stripped


def _parse_line(line: str, file: str, number: int) -> Rule | None:
    """Return the rule of a line, None for a directive that is passed over; raise ValueError if it is wrong."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"{line!r:.200} has no colon")
    name, value = match["name"].lower(), match["value"].strip()
    if name in PASSED_OVER:
        return None
    if name not in OBEYED:
        from difflib import get_close_matches  # late: most files have no such mistake

        close = get_close_matches(name, sorted(OBEYED | PASSED_OVER), 1)
        advice = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"there is no directive {name!r:.60}{advice}")
    if not value:
        raise ValueError(f"{name} has no value")
    if name == PRUNE and value.lower() not in ("yes", "no"):
        raise ValueError(f"prune is {value!r:.60}: it can be yes or no")
    rule = Rule(name, value, file, number)
    if name != PRUNE:
        try:
            compile_selector(rule.selector)
        except SelectorError as error:
            raise ValueError(f"{name}: {error}") from None
    return rule
