"""A line of Markdown: escaped text, emphasis, code, links, pictures, formulas (CommonMark 0.31, 2.4 and 6)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from denoise_crawler.output.content.blocks import (
    RAISED,
    FootnoteMark,
    Formula,
    Inline,
    LineBreak,
    Picture,
    TaskBox,
    Text,
    collapse,
)

_MARKS = {"strong": "**", "em": "*", "del": "~~"}
_SPECIAL = re.compile(r"[\\`*~]|<(?![a-zA-Z/!?])|(?<![^\W_])_|_(?![^\W_])|&(?=[#\w]|\Z)")
_BRACKETS = re.compile(r"[\[\]]")
_LINK_MARKS = ("](", "]:", "][", "[^")
_LINE_START = re.compile(r"(?:#{1,6}|[-+])(?= |\Z)|>|[-:|][-:| ]*\Z|=+\Z|\[(?:[ xX]|!\w+)\](?!\()")
_NUMBER_START = re.compile(r"\d{1,9}(?=[.)](?: |\Z))")
_UNSAFE = re.compile(r"[\s<>\[\]\\`|\"\x00-\x20\x7f]")
_PARENTHESES, _BALANCED = re.compile(r"[()]"), re.compile(r"\([^()]*\)")
_COMMENT = re.compile(r"(?<!\\)%.*")
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")
_LINK_IN_LATEX = re.compile(r"\] ?(?=[(\[:])")
_DOLLARS = re.compile(r"(?<!\\)\$([^$]*)(?<!\\)\$")
_BLOCK_START = re.compile(r"[-+*#>~`=|:]|\d+[.)]")


class _Run(NamedTuple):
    """A piece of a line: ``style`` is that of a text or ``markup`` (in Markdown already) or empty."""

    text: str
    link: str = ""
    style: str = ""


def render_line(content: Sequence[Inline], *, dollars: bool | None = None) -> str:
    """Return one line in Markdown; line breaks in it are spaces.

    Whether ``dollars`` are escaped is decided by this line if it is not given.
    """
    escaped = has_dollars([content]) if dollars is None else dollars
    runs = [_run(piece) for piece in content]
    return _Line(escaped, brackets=_has_link_marks(runs)).render(runs)


def render_lines(content: Sequence[Inline]) -> list[str]:
    """Return the lines of a paragraph in Markdown."""
    dollars = has_dollars([content])
    lines: list[list[Inline]] = [[]]
    for piece in content:
        if isinstance(piece, LineBreak):
            lines.append([])
        else:
            lines[-1].append(piece)
    rendered = [(line[0], render_line(line, dollars=dollars)) for line in lines if line]
    written = [text if isinstance(first, TaskBox) else escape_line_start(text) for first, text in rendered]
    return [*(f"{line}\\" for line in written[:-1]), *written[-1:]]


def has_dollars(contents: Sequence[Sequence[Inline]]) -> bool:
    """Return True if a dollar sign in the texts might be read as one end of a formula: there is a second one."""
    signs = formulas = 0
    for content in contents:
        for piece in content:
            if isinstance(piece, Text):
                signs += piece.text.count("$")
            formulas += isinstance(piece, Formula)
    return signs > 0 and signs + formulas > 1


def escape_markdown(text: str, *, dollars: bool = False, brackets: bool = True) -> str:
    r"""Put a backslash before each character that would be markup inside a line.

    Example:
        >>> print(escape_markdown("2 * 3 [sic]"))
        2 \* 3 \[sic\]
    """
    # some readers pass a backslash and the tag behind it through: they would show markup that the text only names
    escaped = _TAG.sub("&lt;", _SPECIAL.sub(r"\\\g<0>", text))
    escaped = _BRACKETS.sub(r"\\\g<0>", escaped) if brackets else escaped
    return escaped.replace("$", "\\$") if dollars else escaped


def escape_line_start(line: str) -> str:
    """Escape a line of a paragraph that would start a heading, list, quote, rule or table."""
    if _LINE_START.match(line):
        return "\\" + line
    return _NUMBER_START.sub(r"\g<0>\\", line, count=1) if _NUMBER_START.match(line) else line


def link_destination(address: str) -> str:
    """Return a safe URL as the destination of a link. Parentheses stay where they are balanced (6.3).

    Example:
        >>> link_destination("https://a.test/Mars_(god)"), link_destination("https://a.test/(")
        ('https://a.test/Mars_(god)', 'https://a.test/%28')
    """
    quoted = _UNSAFE.sub(_percent, address)
    if "(" in quoted or ")" in quoted:
        outside = _BALANCED.sub("", quoted)
        quoted = _PARENTHESES.sub(_percent, quoted) if _PARENTHESES.search(outside) else quoted
    return re.sub(r"&(?=#?\w+;)", r"\\&", quoted)


def _target(link: str) -> str:
    """Return what stands behind the text of a link: its address in parentheses, or the number of a reference."""
    return link if not link or link.startswith("[") else f"({link_destination(link)})"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode())


def picture_markup(picture: Picture) -> str:
    """Return a picture, in its link if it has one."""
    markup = f"![{escape_markdown(picture.alt)}]({link_destination(picture.address)})"
    return f"[{markup}]({link_destination(picture.link)})" if picture.link else markup


def safe_latex(latex: str) -> str:
    r"""Return a formula on one line in which no reader of Markdown finds a tag, a link or another formula.

    Example:
        >>> print(safe_latex("a<b % less\n- c"), safe_latex(r"\text{if $x$}"), sep=" | ")
        a< b - c | \text{if \(x\)}
    """
    line = " ".join(_COMMENT.sub("", latex).split())
    line = _TAG.sub("< ", line)
    if _LINK_IN_LATEX.search(line):  # some readers see a link behind a space, too: it gets no scheme
        line = _LINK_IN_LATEX.sub("] ", line).replace(":", " :")
    line = _DOLLARS.sub(r"\\(\1\\)", line)
    line = re.sub(r"(?<!\\)\$", r"\\$", line)
    return f"{{}}{line}" if _BLOCK_START.match(line) else line


def footnote_name(label: str) -> str:
    """Return the label of a footnote as a word."""
    return label if label.isalnum() else "-".join(str(ord(letter)) for letter in label)


def _run(piece: Inline) -> _Run:
    if isinstance(piece, Text):
        return _Run(piece.text, _target(piece.link), piece.style)
    if isinstance(piece, Picture):
        return _Run(picture_markup(piece), "", "markup")
    if isinstance(piece, Formula):
        return _Run(f"${safe_latex(piece.latex)}$", "", "markup")
    if isinstance(piece, TaskBox):
        return _Run(f"[{'x' if piece.checked else ' '}] ", "", "markup")
    if isinstance(piece, FootnoteMark):
        return _Run(f"[^{footnote_name(piece.label)}]", "", "markup")
    return _Run(" ")


def _has_link_marks(runs: Sequence[_Run]) -> bool:
    r"""Return True if brackets of a line could make a link. Others stay: some readers see a formula in ``\[``."""
    text = "".join(run.text for run in runs)
    return any(mark in text for mark in _LINK_MARKS)


class _Line:
    """Renders a line; ``dollars`` and ``brackets`` say whether these signs are escaped."""

    def __init__(self, dollars: bool, *, brackets: bool) -> None:
        self._dollars, self._brackets = dollars, brackets

    def render(self, runs: list[_Run]) -> str:
        """Return the line; runs of the same link are one link, and marks enclose no space at their ends."""
        line: list[str] = []
        last, done = "", 0
        for link, group in groupby(runs, key=lambda run: run.link):
            part = list(group)
            done += len(part)
            after = runs[done] if done < len(runs) else None
            following = "" if after is None else "[" if after.link else after.text[0]
            text = self._link(part, link) if link else self._runs(part, last, following)
            if last == "!" and text.startswith("["):  # would be a picture
                line.append("\\!" if line[-1] == "!" else line[-1][:-1] + "\\!")
                del line[-2]
            line.append(text)
            last = text[-1:] or last
        return "".join(line)

    def _link(self, runs: list[_Run], link: str) -> str:
        before = " " if runs[0].text.startswith(" ") else ""
        after = " " if runs[-1].text.endswith(" ") else ""
        pieces = collapse(Text(run.text, run.style) for run in runs)
        inner = [_Run(piece.text, "", piece.style) for piece in pieces if isinstance(piece, Text)]
        text = _Line(self._dollars, brackets=True)._runs(inner, "[", "]")
        return f"{before}[{text}]{link}{after}" if inner else before or after

    def _runs(self, runs: Sequence[_Run], last: str, following: str) -> str:
        """Return runs with their marks between the characters ``last`` and ``following`` ("": end of the line)."""
        parts: list[str] = []
        for number, run in enumerate(runs):
            after = runs[number + 1].text[0] if number + 1 < len(runs) else following
            text = self._one(run, last, after)
            parts.append(text)
            last = text[-1:] or last
        return "".join(parts)

    def _one(self, run: _Run, last: str, after: str) -> str:
        core = run.text.strip(" ")
        if run.style == "markup":
            return run.text
        if not core or not run.style:
            return self._escape(run.text)
        head, tail = run.text[: run.text.index(core)], " " if run.text.endswith(" ") else ""
        if run.style == "code":
            return self._escape(run.text) if (last == "`" and not head) else head + _code(core) + tail
        if run.style in RAISED:
            return f"{head}<{run.style}>{self._escape(core)}</{run.style}>{tail}"
        mark = _MARKS[run.style]
        if not (_may_open(core, head or last) and _may_close(core, tail or after)):
            return self._escape(run.text)
        return f"{head}{mark}{self._escape(core)}{mark}{tail}"

    def _escape(self, text: str) -> str:
        return escape_markdown(text, dollars=self._dollars, brackets=self._brackets)


def _code(text: str) -> str:
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _may_open(text: str, last: str) -> bool:
    """Return True if asterisks between ``last`` and ``text`` open emphasis (6.2: are left-flanking)."""
    return last != "*" and (not _is_punctuation(text[0], "PS") or last in ("", " ") or _is_punctuation(last, "P"))


def _may_close(text: str, after: str) -> bool:
    return not _is_punctuation(text[-1], "PS") or after in ("", " ") or _is_punctuation(after, "P")


def _is_punctuation(letter: str, categories: str) -> bool:
    # versions of CommonMark differ on punctuation beyond ASCII: satisfy both
    return unicodedata.category(letter)[0] in (categories if not letter.isascii() else "PS")
