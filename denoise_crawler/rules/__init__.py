"""A folder of site rules: a file for each host, one directive a line, in the format of ftr-site-config.

``body: //div[@id='story']`` selects the content, ``strip:`` what is dropped. Selectors may be CSS as well.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from denoise_crawler.errors import RulesError, SelectorError
from denoise_crawler.page.site import canonical_host, host_of, without_port
from denoise_crawler.page.text import printable
from denoise_crawler.rules.selectors import compile_selector

MAX_RULES = 2_000
BODY, STRIP, KEEP = "body", "strip", "keep"  # the content, what is dropped, what is kept also in what is dropped
VALUES = TITLE, AUTHOR, DATE = "title", "author", "date"
# Their value is a part of a name instead of a selector; each is another form of ``strip``.
BY_NAME = {
    "strip_id_or_class": "//*[contains(@id, {0}) or contains(@class, {0})]",
    "strip_image_src": "//img[contains(@src, {0})]",
}
PRUNE = "prune"
THIS_RUN = "this run"  # the name in place of a file's for rules of an option
OBEYED = frozenset({BODY, STRIP, KEEP, *VALUES, *BY_NAME, PRUNE})
# Directives of the format that are ignored: they change the source of the page or configure fetching.
IGNORED = frozenset(
    {"test_url", "test_contains", "single_page_link", "single_page_link_in_feed", "next_page_link"}
    | {"tidy", "parser", "replace_string", "find_string", "http_header", "convert_double_br_tags"}
    | {"autodetect_on_failure", "autodetect_next_page", "skip_json_ld", "skip_id_or_class", "strip_attr"}
    | {"strip_comments", "dissolve", "wrap_in", "move_into", "footnotes", "native_ad_clue"}
    | {"if_page_contains", "insert_detected_image", "src_lazy_load_attr", "requires_login", "login_uri"}
    | {"login_username_field", "login_password_field", "login_extra_fields", "not_logged_in_xpath"}
    | {"post_strip_attr", "strip_id_or_class_in_feed"}
)
_QUOTES = str.maketrans("", "", "'\"")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a file: its ``directive``, its ``value`` as written, the name of the file and the line's number.

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
        """The selector, also of a rule whose value is a part of a name."""
        if pattern := BY_NAME.get(self.directive):
            return pattern.format(f"'{self.value.translate(_QUOTES)}'")
        return self.value

    def __str__(self) -> str:
        where = (f"{self.file}, line {self.line}: " if self.line else f"{self.file}: ") if self.file else ""
        return printable(f"{where}{self.directive}: {self.value}")


@dataclass(slots=True)
class SiteFile:
    """The rules of a file in order, and a message for each invalid line."""

    name: str
    rules: list[Rule] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def of(self, *directives: str) -> list[Rule]:
        """Return the rules with these directives."""
        return [rule for rule in self.rules if rule.directive in directives]

    def in_file(self, *directives: str) -> list[Rule]:
        """Return the rules with these directives that are not rules of this run."""
        return [rule for rule in self.of(*directives) if rule.file != THIS_RUN]

    @property
    def prunes(self) -> bool:
        """Whether the method judges inside the body as well, by ``prune: yes``."""
        return any(rule.value.lower() == "yes" for rule in self.of(PRUNE)[-1:])


def parse_site_file(text: str, name: str = "") -> SiteFile:
    r"""Parse a file of rules. An invalid line is skipped and named in ``problems``.

    Example:
        >>> file = parse_site_file("body: div.story\n# a comment\nstrip //p\nstirp: p.ad", "a.example.txt")
        >>> for line in [*file.rules, *file.problems]:
        ...     print(line)
        a.example.txt, line 1: body: div.story
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
    """Return the rule of a line, None for a directive that is ignored; raise ValueError if the line is invalid."""
    before, colon, value = line.partition(":")
    name, value = before.partition("(")[0].strip().lower(), value.strip()  # "replace_string(a): b" has an argument
    if not colon or not name.isidentifier():
        raise ValueError(f"{line!r:.200} has no colon")
    if name in IGNORED:
        return None
    if name not in OBEYED:
        from difflib import get_close_matches  # late: most files have no such mistake

        close = get_close_matches(name, sorted(OBEYED | IGNORED), 1)
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


logger = logging.getLogger(__name__)

SUFFIX = ".txt"
MAX_LOGGED = 50
MAX_FILES = 20_000
MAX_FILE_BYTES = 500_000


@dataclass(slots=True, eq=False)
class SiteRules:
    """The rules of a folder, by host.

    The file ``example.com.txt`` is for example.com and www.example.com, ``.example.com.txt`` for all other hosts
    below it. Of several files only the one with the longest name applies.

    Attributes:
        folder: The folder.
        texts: The content of each file by the host in its name.
        problems: A message for each invalid line or file.
        everywhere: Rules for all hosts.
    """

    folder: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    everywhere: list[Rule] = field(default_factory=list)
    _files: dict[str, SiteFile] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, folder: str | Path) -> SiteRules:
        """Read all files of a folder; an empty name means no rules.

        An invalid line or file is skipped and named in ``problems``.

        Raises:
            RulesError: The folder cannot be read.
        """
        rules = cls(str(folder))
        if not rules.folder:
            return rules
        try:
            paths = sorted(path for path in Path(folder).iterdir() if path.name.endswith(SUFFIX))
        except OSError as error:
            raise RulesError(f"the folder of rules {folder} cannot be read: {error.strerror or error}") from None
        if len(paths) > MAX_FILES:
            rules.problems.append(f"{folder}: only the first {MAX_FILES:,} files are read")
        for path in paths[:MAX_FILES]:
            rules._add(path)
        return rules

    @classmethod
    def of_folder(cls, rules: SiteRules | str | Path) -> SiteRules:
        """Return ``rules``, or those of a folder, whose problems are logged as warnings; raise RulesError."""
        if isinstance(rules, SiteRules):
            return rules
        read = cls.read(rules)
        read.log_problems()
        return read

    def log_problems(self) -> None:
        """Log a warning for each problem, the first MAX_LOGGED of them."""
        for problem in self.problems[:MAX_LOGGED]:
            logger.warning("%s", problem)
        if (more := len(self.problems) - MAX_LOGGED) > 0:
            logger.warning("%s: %d more lines are wrong", printable(self.folder), more)

    def __bool__(self) -> bool:
        """Return True if there is any rule."""
        return bool(self.texts or self.everywhere)

    def __reduce__(self) -> tuple[type[SiteRules], tuple[str, dict[str, str], list[str], list[Rule]]]:
        """Pickle neither the parsed files nor the problems, which this process has logged."""
        return SiteRules, (self.folder, self.texts, [], self.everywhere)

    def add_everywhere(self, directive: str, selectors: Iterable[str]) -> None:
        """Add ``strip`` or ``keep`` rules for the pages of all hosts, after those of the host's file.

        Raises:
            RulesError: A selector is invalid.
        """
        for selector in selectors:
            try:
                compile_selector(selector)
            except SelectorError as error:
                raise RulesError(str(error)) from None
            self.everywhere.append(Rule(directive, selector, THIS_RUN))

    def of(self, url: str) -> SiteFile | None:
        """Return the file for the host of ``url``, None if there is none.

        Example:
            >>> rules = SiteRules(texts={"a.example": "body: main", ".a.example": "body: article"})
            >>> [rules.of(url).name for url in ("https://www.a.example/1", "https://news.a.example/1")]
            ['a.example.txt', '.a.example.txt']
            >>> rules.of("https://b.example/") is None
            True
        """
        if not self:
            return None
        host = next((name for name in _names(without_port(host_of(url))) if name in self.texts), "")
        return self._file(host) if host or self.everywhere else None

    def _file(self, host: str) -> SiteFile:
        if host not in self._files:
            file = parse_site_file(self.texts[host], f"{host}{SUFFIX}") if host else SiteFile(THIS_RUN)
            file.rules += self.everywhere
            self._files[host] = file
        return self._files[host]

    def _add(self, path: Path) -> None:
        try:
            text = read_rules_file(path)
        except (OSError, UnicodeDecodeError) as error:
            self.problems.append(printable(f"{path.name} is ignored: {error}"))
            return
        host = host_in_name(path.name)
        if host in self.texts:
            self.problems.append(printable(f"{path.name} is ignored: another file is for this host"))
            return
        self.texts[host] = text
        self.problems += parse_site_file(text, path.name).problems


NO_RULES = SiteRules()


def read_rules_file(path: Path) -> str:
    """Return the text of a file of rules.

    Raises:
        OSError: It cannot be read, is larger than MAX_FILE_BYTES, or is a pipe or a device, which may never end.
        UnicodeDecodeError: It is not UTF-8.
    """
    if path.exists() and not path.is_file():
        raise OSError("it is no file but a pipe or a device")
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise OSError(f"it is larger than {MAX_FILE_BYTES:,} bytes")
    return data.decode("utf-8")


def host_in_name(file: str) -> str:
    """Return the host in the name of a file, with the leading dot of one for subdomains.

    Example:
        >>> host_in_name("www.Example.com.txt"), host_in_name(".example.com.txt")
        ('example.com', '.example.com')
    """
    host = file.removesuffix(SUFFIX)
    return f".{canonical_host(host[1:])}" if host.startswith(".") else _bare(canonical_host(host))


def _names(host: str) -> Iterator[str]:
    """Yield the names that a file for ``host`` may have, the most specific first."""
    above = _bare(host)
    yield above
    while "." in above:
        above = above.partition(".")[2]
        yield f".{above}"


def _bare(host: str) -> str:
    return host.removeprefix("www.")
