"""Pages whose text only a script builds."""

from __future__ import annotations

from lxml import etree

from denoise_crawler.page.nodes import Element

# Of 4,910 gold pages, 20 have less text than this and a script; all of them are built by that script.
MIN_CHARACTERS = 200
_IGNORED_TAGS = frozenset({"script", "style", "template", "svg", "iframe", "object"})


def has_enough_text(root: Element) -> bool:
    """Return True if the body of a page has at least ``MIN_CHARACTERS`` of text, in ``noscript`` as well.

    Example:
        >>> has_enough_text(etree.HTML("<body><p>Loading…</p><script>start()</script>"))
        False
    """
    body = root.find("body")
    if body is None:
        return False
    characters = 0
    walk = etree.iterwalk(body, events=("start", "comment", "pi"))
    for _, element in walk:
        if element.tag in _IGNORED_TAGS:
            walk.skip_subtree()
        elif isinstance(element.tag, str) and element.text:
            characters += len(element.text.strip())
        if element is not body and element.tail:
            characters += len(element.tail.strip())
        if characters >= MIN_CHARACTERS:
            return True
    return False
