"""Names that a page's own text made: ids of sections from their headings, classes from the title.

Markdown, Sphinx, Pandoc and the like write ``<section id="results-and-discussion">``, shops and blogs
``<body class="postid-7 how-to-comment-code">``. Such words say what the text is about, and nothing of its part in
the page.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from denoise_crawler.methods.fusion.class_words import words_of

if TYPE_CHECKING:
    from collections.abc import Collection

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"})
WHOLE = frozenset({"body", "article", "main"})  # whose classes and ids are made from the title of the page
NEAR = 12  # nodes, within which an element begins with its heading
LONGEST_HEADING = 300  # characters
_SHARE = 0.6
_SLUG = 3  # words that a name made from a title has, or more
_NO_LETTER = re.compile(r"[\W_]+")
_SECTION = re.compile(r"(?:^|\s)(?:section|level[1-6])(?:\s|$)")


def spoken_names(tag: str, class_name: str, identity: str, heading: str, title: frozenset[str]) -> str:
    """Return the class and id of an element without what the page's own text made.

    Args:
        tag: Its tag.
        class_name: Its class.
        identity: Its id.
        heading: The text of the heading that it is or begins with, empty if there is none.
        title: The words of the page's title.

    Example:
        >>> spoken_names("section", "level2", "results-discussion", "Results and discussion", frozenset())
        'level2'
        >>> spoken_names("div", "box", "comments", "Comments", frozenset())
        'box comments'

    """
    if heading and identity and _is_of_heading(tag, class_name, identity, heading):
        identity = ""
    if tag in WHOLE and title:
        class_name = " ".join([one for one in class_name.split() if not _is_slug(one, title)])
        identity = "" if _is_slug(identity, title) else identity
    return f"{class_name} {identity}" if identity else class_name


@lru_cache(maxsize=4_096)
def _is_of_heading(tag: str, class_name: str, identity: str, heading: str) -> bool:
    """Tell whether an id is made from a heading.

    One word names a part of the page ("comments"), but for sections that have it as their whole heading.
    """
    words = words_of(identity)
    if len(words) == 1:
        is_section = tag in HEADINGS or tag == "section" or _SECTION.search(class_name)
        return bool(is_section) and _NO_LETTER.sub("", heading).lower() == words[0]
    return _are_of(words, words_of(heading))


def _is_slug(name: str, title: frozenset[str]) -> bool:
    words = words_of(name)
    return len(words) >= _SLUG and _are_of(words, title)


def _are_of(words: Collection[str], text: Collection[str]) -> bool:
    return bool(words) and sum(word in text for word in words) >= _SHARE * len(words)
