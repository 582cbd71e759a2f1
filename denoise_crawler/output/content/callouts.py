"""Notes, tips and warnings in boxes: their kind and where their title stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

BOXES = frozenset({"div", "aside", "section", "blockquote", "p", "article", "dl"})
_KINDS = (
    frozenset({"note", "info", "information", "abstract", "summary", "seealso", "todo", "example", "quote"})
    | {"remark", "tip", "hint", "success", "check", "done", "question", "faq", "help", "important", "warning"}
    | {"attention", "caution", "danger", "error", "failure", "bug", "critical", "secondary", "primary", "light"}
)
_BOX = re.compile(
    r"(?:^|\s)(?P<box>admonition|callout|markdown-alert|alert|theme-admonition|custom-block|hint-box|notecard)(?:\s|$)"
)
_TITLE = re.compile(
    r"(?:^|\s)(?:admonition-?title|callout-?title|callout-heading|callout-header|markdown-alert-title|alert-heading|alert-title"
    r"|custom-block-title|admonition-?heading\w*|details-summary)(?:\s|$)",
    re.IGNORECASE,
)
_PART = re.compile(r"[\s_-]+")


def callout_kind(element: _Element) -> str:
    """Return the kind of a callout in lower case; an empty string if the element is none.

    Example:
        >>> from lxml import html
        >>> callout_kind(html.fromstring("<div class='alert alert-warning'>Look out</div>"))
        'warning'

    """
    if kind := element.get("data-callout", "").strip().lower():
        return kind if kind.isalpha() and len(kind) < 20 else "note"
    classes = element.get("class")
    if not classes or (box := _BOX.search(classes)) is None:
        return ""
    named = [part for part in _PART.split(classes.lower()) if part in _KINDS]
    if box["box"] == "alert" and not named:
        return ""  # a message of the site
    return named[0] if named else "note"


def is_title(element: _Element) -> bool:
    """Tell whether an element inside a callout is its title."""
    classes = element.get("class")
    return classes is not None and _TITLE.search(classes) is not None
