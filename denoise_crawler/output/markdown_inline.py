"""A line of Markdown: escaped text, emphasis, code, links and pictures (CommonMark 0.31, 2.4 and 6)."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_ADDRESS = 4_000
_MARKS = {"strong": "**", "em": "*"}
_SPECIAL = re.compile(r"[\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=[#\w]|\Z)")
_LINE_START = re.compile(r"(?:#{1,6}|[-+])(?= |\Z)|>|[-:|][-:| ]*\Z|=+\Z")
_NUMBER_START = re.compile(r"\d{1,9}(?=[.)](?: |\Z))")
_RUNNING = re.compile(r"(?:javascript|vbscript|data|about|blob|file):", re.IGNORECASE)
_UNSAFE = re.compile(r"[\s<>()\[\]\\`|\"\x00-\x20\x7f]")


class Run(NamedTuple):
    """A piece of a line: ``style`` is ``em``, ``strong``, ``code``, ``image`` (in Markdown already) or empty."""

    text: str
    link: str = ""
    style: str = ""


def written(runs: Iterable[Run]) -> str:
    """Return a line in Markdown; runs of one link are one link, and space at the ends of a mark stands outside."""
    pieces = _spaced(runs)
    line: list[str] = []
    last, done = "", 0
    for link, group in groupby(pieces, key=lambda piece: piece.link):
        part = list(group)
        done += len(part)
        after = pieces[done] if done < len(pieces) else None
        following = "" if after is None else "[" if after.link or after.style == "image" else after.text[0]
        text = _linked(part, link) if link else _styled(part, last, following)
        if last == "!" and text.startswith("["):  # would be a picture
            line.append("\\!" if line[-1] == "!" else line[-1][:-1] + "\\!")
            del line[-2]
        line.append(text)
        last = text[-1:] or last
    return "".join(line)


def escaped(text: str) -> str:
    """Return ``text`` with a backslash before each character that would be markup inside a line."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def escaped_line_start(line: str) -> str:
    """Return a line of a paragraph so that it begins no heading, list, quote, rule or table."""
    if _LINE_START.match(line):
        return "\\" + line
    return _NUMBER_START.sub(r"\g<0>\\", line, count=1) if _NUMBER_START.match(line) else line


def destination(address: str) -> str:
    """Return an address as the destination of a link; empty for one that leads nowhere or runs something."""
    address = address.strip()
    if len(address) > LONGEST_ADDRESS or _RUNNING.match(re.sub(r"[\x00-\x20]", "", address[:100])):
        return ""
    quoted = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode()), address)
    return re.sub(r"&(?=#?\w+;)", r"\\&", quoted)


def picture(alternative: str, address: str) -> str:
    """Return a picture; ``address`` is a destination."""
    return f"![{escaped(alternative)}]({address})"


def _spaced(runs: Iterable[Run]) -> list[Run]:
    """Return runs with single spaces, none at the ends of the line, neighbours of the same kind as one."""
    pieces: list[Run] = []
    space = True
    for (link, style), group in groupby(runs, key=lambda run: (run.link, run.style)):
        text = "".join(run.text for run in group)
        if style != "image":
            text = re.sub(r"\s+", " ", text)
            text = text[1:] if space and text.startswith(" ") else text
        if text:
            pieces.append(Run(text, link, style))
            space = text.endswith(" ")
    while pieces and pieces[-1].text.endswith(" "):
        last = pieces.pop()
        if text := last.text.rstrip(" "):
            pieces.append(last._replace(text=text))
    return pieces


def _linked(runs: list[Run], link: str) -> str:
    before = " " if runs[0].text.startswith(" ") else ""
    after = " " if runs[-1].text.endswith(" ") else ""
    inner = _spaced(runs)
    return f"{before}[{_styled(inner, '[', ']')}]({link}){after}" if inner else before or after


def _styled(runs: Sequence[Run], last: str, following: str) -> str:
    """Return runs with their marks, between the characters ``last`` and ``following`` (empty: end of the line)."""
    parts: list[str] = []
    for number, run in enumerate(runs):
        after = runs[number + 1].text[0] if number + 1 < len(runs) else following
        text = _marked(run, last, after)
        parts.append(text)
        last = text[-1:] or last
    return "".join(parts)


def _marked(run: Run, last: str, after: str) -> str:
    core = run.text.strip(" ")
    if run.style == "image":
        return run.text
    if not core or not run.style:
        return escaped(run.text)
    head, tail = run.text[: run.text.index(core)], " " if run.text.endswith(" ") else ""
    if run.style == "code":
        return escaped(run.text) if (last == "`" and not head) else head + _code(core) + tail
    mark = _MARKS[run.style]
    if not (_may_open(core, head or last) and _may_close(core, tail or after)):
        return escaped(run.text)
    return f"{head}{mark}{escaped(core)}{mark}{tail}"


def _code(text: str) -> str:
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _may_open(text: str, last: str) -> bool:
    """Tell whether asterisks between ``last`` and ``text`` open emphasis (6.2: are left-flanking)."""
    return last != "*" and (not _is_punctuation(text[0], "PS") or last in ("", " ") or _is_punctuation(last, "P"))


def _may_close(text: str, after: str) -> bool:
    return not _is_punctuation(text[-1], "PS") or after in ("", " ") or _is_punctuation(after, "P")


def _is_punctuation(letter: str, categories: str) -> bool:
    # what readers take for punctuation beyond ASCII has changed: both readings have to agree
    return unicodedata.category(letter)[0] in (categories if not letter.isascii() else "PS")
