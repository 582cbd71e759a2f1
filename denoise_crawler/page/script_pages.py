"""Pages whose text only a script builds, and the article that such a page declares."""

from __future__ import annotations

import re
from html import escape, unescape

from lxml import etree

from denoise_crawler.page.declarations import declarations_of, nested_items
from denoise_crawler.page.nodes import Element
from denoise_crawler.page.page import Page

# Of 4,910 gold pages, 20 have less text than this and a script; all of them are built by that script.
MIN_CHARACTERS = 200
DECLARED = "json_ld"  # behind the name of the method, where the text is a declared article
_BREAK = re.compile(r"\n|</?(?:p|br|div|li|h[1-6])\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
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


def declared_article(page: Page) -> str:
    """Return the HTML of the article that ``page`` declares in JSON-LD, if its text is built by a script.

    Empty if it declares none, or has text of its own; ask for it by ``page.once``.
    """
    characters, *_ = page.nodes.counts(None)
    if characters >= MIN_CHARACTERS or page.tree is None or next(page.tree.iter("script"), None) is None:
        return ""
    bodies = (item.get("articleBody") for item in nested_items(page.once(declarations_of).items))
    body = unescape(max((one for one in bodies if isinstance(one, str)), key=len, default=""))
    if len(body) < MIN_CHARACTERS:
        return ""
    paragraphs = (_TAG.sub(" ", part).strip() for part in _BREAK.split(body))
    return f"<html><body>{''.join(f'<p>{escape(part)}</p>' for part in paragraphs if part)}</body></html>"
