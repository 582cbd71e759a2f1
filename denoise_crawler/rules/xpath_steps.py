"""XPath taken apart: the steps of its paths, and how far the axes in its predicates reach."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from denoise_crawler.errors import SelectorError

_TOKEN = re.compile(
    r"""\s*("[^"]*"|'[^']*'|//|::|\.\.|!=|<=|>=|\d+(?:\.\d*)?|\.\d+|[\w\u00b7-]+(?:\.[\w-]+)*(?::[\w-]+)?"""
    r"""|[][()@,./|+=<>*$-])"""
)
_NAMED_OPERATORS = frozenset({"and", "or", "div", "mod"})
OPERATORS = frozenset({"=", "!=", "<", "<=", ">", ">=", "+", "-", "|", ","}) | _NAMED_OPERATORS
# Behind these a name or a star is no operator.
_BEFORE_OPERAND = frozenset({"/", "//", "::", "@", "(", "[", "$"}) | OPERATORS
_NO_ELEMENTS = frozenset({"@", "text", "node", "comment", "processing-instruction", "attribute", "namespace"})
_COMPARED = frozenset({"=", "!=", "<", "<=", ">", ">="})
_READ_NO_TEXT = (
    _NO_ELEMENTS | {"count", "position", "last", "not", "boolean", "name", "local-name"} | {"true", "false"}
)
# How far an axis reaches: to any element of the page, up or down a branch, or along the children of a parent.
FAR, BRANCH, SIBLINGS = "far", "branch", "siblings"
_REACH = {
    **dict.fromkeys(("following", "preceding"), FAR),
    **dict.fromkeys(("descendant", "descendant-or-self", "ancestor", "ancestor-or-self"), BRANCH),
    **dict.fromkeys(("following-sibling", "preceding-sibling", "parent"), SIBLINGS),
}


@dataclass(slots=True)
class Step:
    """One or a few steps of a path, for one context node: the ``axis`` of the first, and all ``tokens``."""

    tokens: list[str] = field(default_factory=list)
    is_below: bool = False  # behind "//"

    @property
    def text(self) -> str:
        """The step as XPath."""
        written = " ".join(self.tokens)
        if not self.is_below:
            return written
        is_child = self.tokens[0] not in (".", "..", "@") and self.tokens[1:2] != ["::"]
        begin = "descendant::" if is_child and not self.counts else "descendant-or-self::node()/"
        return f"{begin}{written}"

    @property
    def axis(self) -> str:
        """The axis of the first of the steps."""
        if self.is_below:
            return "descendant"
        if self.tokens[1:2] == ["::"]:
            return self.tokens[0]
        return {"..": "parent", ".": "self", "@": "attribute"}.get(self.tokens[0], "child")

    @property
    def counts(self) -> bool:
        """Whether a predicate may ask for the position of a node among those of its context."""
        inside = self.tokens[self.tokens.index("[") :] if "[" in self.tokens else []
        return any(word in ("position", "last") or word[0].isdigit() for word in inside)


def tokens_of(xpath: str) -> list[str]:
    """Return the tokens of an expression.

    Raises:
        SelectorError: A character in it belongs to none.

    Example:
        >>> tokens_of("//p[@id='a b']/..")
        ['//', 'p', '[', '@', 'id', '=', "'a b'", ']', '/', '..']
    """
    tokens, at, text = list[str](), 0, xpath.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise SelectorError(f"{text[at]!r:.20} is not known in XPath")
        tokens.append(match[1])
        at = match.end()
    return tokens


def is_operator(tokens: Sequence[str], at: int) -> bool:
    """Return True if a word is an operator; names and stars are operators only behind an operand."""
    word = tokens[at]
    if word in _NAMED_OPERATORS or word == "*":
        return at > 0 and tokens[at - 1] not in _BEFORE_OPERAND
    return word in OPERATORS


def reach_of(tokens: Sequence[str], at: int) -> str | None:
    """Return how far the axis reaches that a word names; None for no axis, and for one that reaches children."""
    word = tokens[at]
    if word == "//":
        return FAR if not at or tokens[at - 1] in _BEFORE_OPERAND else BRANCH
    if word == "..":
        return SIBLINGS
    return _REACH.get(word) if tokens[at + 1 : at + 2] == ["::"] else None


def is_name(tokens: Sequence[str], at: int) -> bool:
    """Return True if a token is the name or star of elements, not of an axis, a function or an attribute."""
    before, after = (tokens[at - 1] if at else ""), (tokens[at + 1] if at + 1 < len(tokens) else "")
    is_word = tokens[at] == "*" or tokens[at][0].isalpha() or tokens[at][0] == "_"
    return is_word and after not in ("(", "::") and before not in ("@", "$")


def reads_text(tokens: Sequence[str]) -> bool:
    """Return True if an expression may read the text of elements: in a function, or to compare it."""
    for at, word in enumerate(tokens):
        if word in _COMPARED and (_is_element_behind(tokens, at) or _is_element_before(tokens, at)):
            return True
        if word == "(" and at and (tokens[at - 1] in _READ_NO_TEXT or not tokens[at - 1][0].isalpha()):
            continue
        if word in ("(", ",") and _is_element_behind(tokens, at):
            return True
    return False


def _is_element_behind(tokens: Sequence[str], at: int) -> bool:
    if at + 1 >= len(tokens):
        return False
    word, after = tokens[at + 1], (tokens[at + 2] if at + 2 < len(tokens) else "")
    is_value = word[0] in "'\"@)" or word[0].isdigit() or word[0] == "-"
    return not is_value and not (after == "(" and word not in _NO_ELEMENTS)


def _is_element_before(tokens: Sequence[str], at: int) -> bool:
    word, before = tokens[at - 1], (tokens[at - 2] if at > 1 else "")
    is_value = word[0] in "'\")" or word[0].isdigit()
    return not is_value and before != "@" and tokens[at - 2 : at - 1] != ["mod"]


def check_nesting(tokens: Sequence[str]) -> None:
    """Refuse an axis of unbounded reach in a predicate inside another such predicate.

    Its time grows with the cube of the page or worse.

    Raises:
        SelectorError: There is one.
    """
    reaches: list[bool] = []  # of the open brackets, whether such an axis stands before the next one
    for at, word in enumerate(tokens):
        if word == "[":
            reaches.append(False)
        elif word == "]" and reaches:
            reaches.pop()
        elif reaches and reach_of(tokens, at) in (FAR, BRANCH):
            if any(reaches[:-1]):
                axis = word if word == "//" else f"{word}::"
                raise SelectorError(f"{axis} stands in a predicate inside a predicate with such an axis")
            reaches[-1] = True


def paths_of(tokens: Sequence[str]) -> list[list[Step]] | None:
    """Return the steps of each path of an expression; None if it is more than paths and "|" between them.

    Example:
        >>> [[step.text for step in path] for path in paths_of(tokens_of("//div[1]//p/text() | ./a/@b")) or []]
        [['// div [ 1 ]', 'descendant::p', 'text ( )'], ['.', 'a', '@ b']]
    """
    paths: list[list[Step]] = []
    for part in _parts(tokens):
        steps = list(_steps(part))
        if not steps or not _is_path(part):
            return None
        paths.append(steps)
    return paths


def _parts(tokens: Sequence[str]) -> Iterator[list[str]]:
    depth, part = 0, list[str]()
    for word in tokens:
        depth += (word in "([") - (word in ")]")
        if word == "|" and not depth:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _is_path(tokens: Sequence[str]) -> bool:
    depth = 0
    for at, word in enumerate(tokens):
        if not depth and (word in ("$", "(") or word[0] in "'\"" or word[0].isdigit() or is_operator(tokens, at)):
            return word == "(" and at > 0 and tokens[at - 1] in _NO_ELEMENTS and _is_path(tokens[at + 2 :])
        depth += (word in "([") - (word in ")]")
    return True


def _steps(tokens: Sequence[str]) -> Iterator[Step]:
    """Yield the steps; one that finds texts or attributes is held together with the next one."""
    depth, step, begins = 0, Step(), 0
    for at, word in enumerate(tokens):
        if not depth and word in ("/", "//") and at:
            if len(step.tokens) > begins and not _NO_ELEMENTS.intersection(_test(step.tokens[begins:])):
                yield step
                step, begins = Step(is_below=word == "//"), 0
                continue
            begins = len(step.tokens) + 1
        depth += (word in "([") - (word in ")]")
        step.tokens.append(word)
    if step.tokens:
        yield step


def _test(step: Sequence[str]) -> Sequence[str]:
    """Return the axis and the test of nodes, without predicates."""
    return step[: step.index("[")] if "[" in step else step
