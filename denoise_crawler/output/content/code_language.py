"""The language of a block of code, as its markup or that of its highlighter names it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

MAX_ABOVE = 3  # elements around the code that may name its language
_ATTRIBUTES = ("data-language", "data-lang", "data-code-language", "data-enlighter-language", "data-syntax")
_NAME = r"([\w+#.-]{1,20})"
_CLASSES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:^|\s)(?:language|lang)[-_:]{_NAME}(?:\s|$)",
        rf"(?:^|[\s;])brush:\s*{_NAME}",
        rf"(?:^|\s)highlight-(?:source|text)-{_NAME}(?:\s|$)",
        rf"(?:^|\s)highlight-{_NAME}(?:\s|$)",
        rf"(?:^|\s)sourceCode\s+{_NAME}(?:\s|$)",
        rf"(?:^|\s)src\s+src-{_NAME}(?:\s|$)",
        rf"(?:^|\s)(?:hljs|prettyprint|syntaxhighlighter)\s+{_NAME}(?:\s|$)",
        rf"(?:^|\s){_NAME}\s+hljs(?:\s|$)",
    )
]
_NO_LANGUAGE = frozenset(
    {
        "none",
        "plain",
        "plaintext",
        "text",
        "txt",
        "raw",
        "nohighlight",
        "no-highlight",
        "default",
        "auto",
        "unknown",
    }
    | {"output", "highlight", "hljs", "code", "source", "block", "container", "box", "wrap", "wrapper", "copyable"}
    | {"numbers", "linenums", "notranslate", "prettyprinted", "is-loaded", "tab-size", "undefined"}
)


def code_language(block: _Element) -> str:
    """Return the language of a block of code in lower case, an empty string if nothing names it.

    Looked at are the block, the first elements in it, and up to three elements around it.
    """
    for element in _elements(block):
        for name in _ATTRIBUTES:
            if found := _checked(element.get(name, "")):
                return found
        classes = element.get("class", "")[:500]
        for pattern in _CLASSES if classes else ():
            if (match := pattern.search(classes)) and (found := _checked(match.group(1))):
                return found
    return ""


def _elements(block: _Element) -> Iterator[_Element]:
    yield block
    inner = list(block.iterchildren("code", "div", "pre", "span"))[:2]
    yield from inner
    for child in inner[:1]:
        yield from list(child.iterchildren("code", "pre"))[:1]
    above = block.getparent()
    for _ in range(MAX_ABOVE):
        if above is None or above.tag in ("body", "article", "main", "section", "li", "td", "blockquote"):
            return
        if sum(1 for child in above.iterchildren("pre", "table")) > 1:
            return
        yield above
        above = above.getparent()


def _checked(name: str) -> str:
    name = name.strip().strip(".").lower()
    valid = re.fullmatch(r"[a-z][\w+#.-]{0,19}", name) is not None
    return name if valid and name not in _NO_LANGUAGE and not name.startswith(("line", "highlight")) else ""
