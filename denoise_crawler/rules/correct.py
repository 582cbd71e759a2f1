"""Writes a rule into the file of a host."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from denoise_crawler.errors import RulesError
from denoise_crawler.page.site import host_of
from denoise_crawler.rules.folder import (
    MAX_FILE_BYTES,
    Rule,
    SiteRules,
    file_for,
    parse_site_file,
    read_rules_file,
)
from denoise_crawler.rules.selectors import compile_selector

LOCK_FILE = ".lock"  # in the folder; it stays there
_LOCK_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Written:
    """A rule in its file; not ``new`` if it stood there already."""

    path: Path
    rule: Rule
    new: bool


def add_rule(folder: str | Path, url: str, directive: str, selector: str) -> Written:
    """Add a rule to the file for the host of ``url``, at its end, unless it stands there.

    The file is replaced in one step, so that a reader finds the old one or the new one. A lock on the folder lets
    several processes add rules at the same time.

    Args:
        folder: The folder of rules; made if it is missing.
        url: The address of a page.
        directive: ``strip`` or ``keep``, for example.
        selector: A selector in CSS or XPath.

    Returns:
        The rule with its file and line.

    Raises:
        SelectorError: The selector is wrong.
        RulesError: The file cannot be read or written.

    Example:
        >>> with tempfile.TemporaryDirectory() as made:
        ...     first = add_rule(made, "https://www.a.example/1", "strip", "div.ad")
        ...     again = add_rule(made, "https://a.example/2", "strip", "div.ad")
        >>> print(first.rule, first.new, again.new)
        a.example.txt, line 1: strip: div.ad True False
    """
    selector = " ".join(selector.split())
    compile_selector(selector)
    with _lock(folder, url):
        return _add(path_for(folder, url), directive, selector)


def _add(path: Path, directive: str, selector: str) -> Written:
    before = _read(path)
    for rule in parse_site_file(before, path.name).rules:
        if (rule.directive, rule.value) == (directive, selector):
            return Written(path, rule, new=False)
    text = before + ("" if not before or before.endswith("\n") else "\n") + f"{directive}: {selector}\n"
    if len(text.encode()) > MAX_FILE_BYTES:
        raise RulesError(f"{path} would be larger than {MAX_FILE_BYTES:,} bytes, which is not read")
    _replace(path, text)
    return Written(path, parse_site_file(text, path.name).rules[-1], new=True)


def path_for(folder: str | Path, url: str) -> Path:
    """Return the path of the file that is obeyed for ``url``; where there is none, of one for its host alone.

    Raises:
        RulesError: The address has no host, or the folder cannot be read.
    """
    host = _host(url)
    rules = SiteRules.read(folder) if Path(folder).exists() else SiteRules(str(folder))
    file = rules.of(url)
    return Path(folder) / (file_for(host) if file is None else rules.paths.get(file.name, file.name))


def _host(url: str) -> str:
    host = host_of(url)
    if not host or "/" in host or os.sep in host or not host.isprintable():
        raise RulesError(f"{url!r:.200} has no host to write a rule for")
    return host


@contextmanager
def _lock(folder: str | Path, url: str) -> Iterator[None]:
    """Keep other processes from writing rules into ``folder``, made if it is missing; raise RulesError."""
    _host(url)  # nothing is made for an address that no file can be for
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        lock = FileLock(Path(folder) / LOCK_FILE, mode=0o666)
        lock.acquire(timeout=_LOCK_SECONDS)
    except Timeout:
        raise RulesError(f"another process writes rules into {folder}, for {_LOCK_SECONDS} seconds now") from None
    except OSError as error:
        raise RulesError(f"{folder} cannot be written: {error.strerror or error}") from None
    try:
        yield
    finally:
        lock.release()


def _read(path: Path) -> str:
    try:
        return read_rules_file(path)
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise RulesError(f"{path} cannot be read: {error}") from None


def _replace(path: Path, text: str) -> None:
    try:
        number, name = tempfile.mkstemp(prefix=".", suffix=".new", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise RulesError(f"{path} cannot be written: {error.strerror or error}") from None
