"""A folder of site rules: a file for each host, read once."""

from __future__ import annotations

import logging
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from denoise_crawler.errors import RulesError, SelectorError
from denoise_crawler.page.site import canonical_host, host_of, without_port
from denoise_crawler.page.text import printable
from denoise_crawler.rules.selectors import compile_selector
from denoise_crawler.rules.site_file import THIS_RUN, Rule, SiteFile, parse_site_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

logger = logging.getLogger(__name__)

SUFFIX = ".txt"
MAX_LOGGED = 50
MAX_FILES = 20_000
MAX_FILE_BYTES = 500_000


@dataclass(slots=True, eq=False)
class SiteRules:
    """The rules of a folder, by host.

    The file ``example.com.txt`` is for example.com and www.example.com, ``.example.com.txt`` for all other hosts
    below it. Of several files the one with the longest name is obeyed, alone. ``folder`` is where they lie,
    ``texts`` are the files by the hosts in their names, ``paths`` the names as they are on disk; the rules of
    ``everywhere`` are for all hosts. A copy for another process takes only the texts and these along.
    """

    folder: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)
    everywhere: list[Rule] = field(default_factory=list)
    _files: dict[str, SiteFile] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, folder: str | Path) -> Self:
        """Read all files of a folder.

        Args:
            folder: The folder; an empty text stands for no rules.

        Returns:
            The rules. What is wrong in a file is one line of ``problems``, and passed over.

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

    def __getstate__(self) -> tuple[str, dict[str, str], list[Rule]]:
        """Return what another process needs; it has been told of problems already."""
        return self.folder, self.texts, self.everywhere

    def __setstate__(self, state: tuple[str, dict[str, str], list[Rule]]) -> None:
        """Take what :meth:`__getstate__` gave."""
        self.folder, self.texts, self.everywhere = state
        self.problems, self.paths, self._files = [], {}, {}

    def add_everywhere(self, directive: str, selectors: Iterable[str]) -> None:
        """Add rules for the pages of all hosts; they stand behind those of the host's file.

        Args:
            directive: ``strip`` or ``keep``.
            selectors: Selectors in CSS or XPath.

        Raises:
            RulesError: A selector is wrong.

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
            self.problems.append(printable(f"{path.name}: it is passed over, because {error}"))
            return
        host = host_in_name(path.name)
        if host in self.texts:
            self.problems.append(printable(f"{path.name}: it is passed over: another file is for this host"))
            return
        self.texts[host], self.paths[f"{host}{SUFFIX}"] = text, path.name
        self.problems += parse_site_file(text, path.name).problems


NO_RULES = SiteRules()


def read_rules_file(path: Path) -> str:
    """Return the text of a file of rules.

    Raises:
        OSError: It cannot be read, is larger than MAX_FILE_BYTES, or is a pipe or a device, which might never end.
        UnicodeDecodeError: It is not UTF-8.

    """
    # a pipe that nobody writes to is opened at once
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError("it is no file but a pipe or a device")
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


def file_for(host: str) -> str:
    """Return the name of the file for a host.

    Example:
        >>> file_for("www.example.com:8000")
        'example.com.txt'

    """
    return f"{_bare(without_port(host))}{SUFFIX}"


def _names(host: str) -> Iterator[str]:
    """Yield the names that a file for ``host`` may have, the closest first."""
    above = _bare(host)
    yield above
    while "." in above:
        above = above.partition(".")[2]
        yield f".{above}"


def _bare(host: str) -> str:
    return host.removeprefix("www.")
