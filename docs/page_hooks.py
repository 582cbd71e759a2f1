"""Hooks of MkDocs and Griffe: links out of the documentation, examples, tables and names for screen readers."""

from __future__ import annotations

import logging
import re
from typing import Any

import jieba
from griffe import Extension, Object

jieba.setLogLevel(logging.WARNING)  # the search plugin loads it
for word in ("去噪", "风格树", "特征树"):  # which it would cut in two, and no search would find
    jieba.add_word(word)

_LINK_OUT = re.compile(r"\[`?([^\]`]+)`?\]\(\.\./[^)]*\)")
_EMPTY_HEAD = re.compile(r"<th([^>]*)></th>")


class Examples(Extension):
    """Shows the examples of docstrings as code, which Griffe does of a section with a plural name."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rename the section."""
        if obj.docstring:
            obj.docstring.value = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return the page's text with links to other files of the repository as their words.

    On a page of the repository such a link works; on the site there is nothing it could lead to.
    """
    return _LINK_OUT.sub(r"\1", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Return the page with tables that the keyboard reaches, and without head cells that say nothing."""
    return _EMPTY_HEAD.sub(r"<td\1></td>", html).replace("<table>", '<table tabindex="0">')


def on_post_page(output: str, **_: Any) -> str:
    """Return the page with a name for the theme's dialog."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')
