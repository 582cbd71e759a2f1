"""Markup that executes nothing, used by every output: tags, documents, style sheets; files never behind links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import escape
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from lxml import etree
from lxml.etree import _Element

from denoise_crawler.errors import LinkedOutputError
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.nodes import URL_ATTRIBUTES
from denoise_crawler.page.text import collapse_spaces

Attributes: TypeAlias = "Iterable[tuple[str, str]]"

_WEB = " http: https:"
# Elements that are scripts, fetch them, change URLs later or redirect the page.
DROPPED = frozenset(
    {"script", "meta", "base", "param", "source", "track", "set", "animate", "animatemotion"}
    | {"animatetransform", "handler", "listener", "portal", "fencedframe"}
)
EMPTIED = frozenset({"iframe", "object", "embed", "applet", "frame"})

VOID = frozenset(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen"}
    | {"link", "meta", "param", "source", "track", "wbr"}
)
_TAG = re.compile(r"[a-zA-Z][^\s/>\0]*")
_NAME = re.compile(r"[^\s\"'<>/=\0-\x1f\x7f]+")
_UNWANTED = frozenset(
    {"srcdoc", "ping", "nonce", "integrity", "crossorigin", "autoplay", "autofocus", "http-equiv", "manifest"}
    | {"attributionsrc", "browsingtopics", "sharedstoragewritable"}
)
_SOURCES = frozenset({"src", "data", "code", "codebase", "archive", "srcset"})
_IGNORED = re.compile(r"[\0-\x20\x7f-\xa0\u200b-\u200f\u2028\u2029\ufeff]+")
_EXECUTABLE_SCHEMES = (
    *("javascript:", "vbscript:", "livescript:", "data:text/html", "data:application/", "data:text/xml"),
)
_DOCTYPE = re.compile(r"<!DOCTYPE html[^<>]*>", re.IGNORECASE)
_TAG_IN_STYLE = re.compile(r"<(?=[a-zA-Z/!?])")


def security_metas(*, remote: bool) -> str:
    """Return the ``meta`` elements that forbid a browser to execute, send or prefetch anything.

    If ``remote``, it may fetch style sheets, pictures, fonts and films.
    """
    web = _WEB if remote else ""
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'{web}; img-src data:{web}; font-src data:{web}; "
        f"media-src data:{web}; form-action 'none'"
    )
    metas = (
        ("http-equiv", "Content-Security-Policy", policy),
        ("http-equiv", "x-dns-prefetch-control", "off"),
        ("name", "referrer", "no-referrer"),
    )
    return "".join(start_tag("meta", [(key, name), ("content", content)]) for key, name, content in metas)


def start_tag(tag: str, attributes: Attributes) -> str:
    """Return the start tag of an element; an invalid tag becomes a ``span``."""
    text = "".join(f' {name}="{escape(value)}"' for name, value in attributes)
    return f"<{safe_tag_name(tag)}{text}>"


def safe_tag_name(tag: str) -> str:
    """Return ``tag``, or ``span`` if it is invalid."""
    return tag if _TAG.fullmatch(tag) else "span"


def markup_of(root: _Element) -> str:
    """Return the markup of a tree of safe elements, with all text escaped.

    Scripts hold only data and are not escaped, so they must not contain an end tag.
    """
    parts: list[str] = []
    waiting: list[tuple[Iterator[_Element], str]] = [(iter((root,)), "")]
    while waiting:
        children, behind = waiting[-1]
        if (child := next(children, None)) is None:
            waiting.pop()
            parts.append(behind)
            continue
        tag, text, tail = str(child.tag), child.text or "", escape(child.tail or "", quote=False)
        parts.append(start_tag(tag, _all_attributes(child)))
        parts.append(text if tag == "script" else escape(text, quote=False))
        waiting.append((iter(child), tail if tag in VOID else f"</{safe_tag_name(tag)}>{tail}"))
    return "".join(parts)


def safe_attributes(element: _Element, absolute: Callable[[str], str] | None = None) -> list[tuple[str, str]]:
    """Return the attributes of ``element`` without event handlers and executable URLs, made ``absolute``."""
    emptied = str(element.tag).lower() in EMPTIED
    kept = []
    for name, value in _all_attributes(element):
        lower = name.lower()
        if not _NAME.fullmatch(name) or lower.startswith("on") or lower in _UNWANTED:
            continue
        leads_to = value if absolute is None or lower not in URL_ATTRIBUTES else absolute(value)
        if (emptied and lower in _SOURCES) or is_executable(value) or is_executable(leads_to):
            continue
        kept.append((name, leads_to))
    return kept


def _all_attributes(element: _Element) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in element.items()]


def sheet_attributes(link: _Element) -> list[tuple[str, str]] | None:
    """Return the attributes of a ``link`` to a style sheet; None for any other link.

    A sheet that a script would activate (``rel="preload" as="style"``) is activated.
    """
    attributes = dict(safe_attributes(link))
    relations = attributes.get("rel", "").lower().split()
    switched_on = "preload" in relations and attributes.get("as", "").lower() == "style"
    if not switched_on and "stylesheet" not in relations:
        return None
    # drop other relations: some open connections, which no policy forbids
    attributes["rel"] = "alternate stylesheet" if "alternate" in relations else "stylesheet"
    return list(attributes.items())


def safe_style(text: str) -> str:
    """Return a style sheet without tags: in strings and URLs each ``<`` before a tag name is escaped."""
    return _TAG_IN_STYLE.sub(r"\\3c ", text.replace("<!--", "").replace("-->", ""))


def safe_doctype(doctype: str) -> str:
    """Return the doctype, which selects the browser's mode; a plain one if it is no HTML doctype."""
    return doctype if _DOCTYPE.fullmatch(doctype) else "<!DOCTYPE html>"


def is_executable(value: str) -> bool:
    """Return True if a browser that follows the URL ``value`` may execute it."""
    if ":" not in value:
        return False
    return _IGNORED.sub("", value).lower().startswith(_EXECUTABLE_SCHEMES)


CONTROLS = frozenset({"svg", "button", "select", "option", "datalist", "textarea"})  # and drawings
MEDIA = frozenset({"video", "audio", "canvas"}) | EMPTIED
# Browsers do not show all content of elements with these tags.
RENAMED = {
    **dict.fromkeys(("xmp", "plaintext", "listing"), "pre"),
    **dict.fromkeys(("html", "head", "body", "frameset", "noscript", "noframes", "noembed", "template"), "div"),
    **dict.fromkeys(("title", "applet", "math", "marquee", "frame"), "div"),
    "image": "img",
}


def output_tags(nodes: Nodes) -> list[str]:
    """Return the tag to write each node with, so that a browser shows its content."""
    tags, form_end = ["body"], 0
    for index in range(1, len(nodes)):
        tag = nodes.tags[index]
        if tag is not TEXT:
            tag = safe_tag_name(RENAMED.get(tag, tag))
            never_closed = nodes.ends[index] > index + 1 and (tag in CONTROLS or tag in MEDIA)
            if never_closed or (tag == "form" and index < form_end):  # forms must not contain forms
                tag = "div"
            elif tag == "form":
                form_end = nodes.ends[index]
        tags.append(tag)
    return tags


def write_below(folder: Path, name: str, text: str) -> None:
    """Write a file of this ``name`` in a folder or one below it; lone surrogates become ``?``.

    A process that is killed meanwhile leaves no part of a file under that name.

    Raises:
        LinkedOutputError: The path contains a link or leads out of ``folder``.
    """
    file = folder / name
    if (file.parent != folder and file.parent.parent != folder) or ".." in file.parts[len(folder.parts) :]:
        raise LinkedOutputError(f"{file} does not lie in {folder}")
    for place in (file.parent, file):
        if place != folder and place.is_symlink():
            raise LinkedOutputError(f"{place} is a link, which is not followed: remove it or name another folder")
    file.parent.mkdir(exist_ok=True)
    unfinished = file.with_name(f".{file.name}")
    unfinished.unlink(missing_ok=True)
    with unfinished.open("x", encoding="utf-8", errors="replace", newline="\n") as new:
        new.write(text)
    unfinished.replace(file)


# --- clean HTML: the kept nodes of a page as a new, repaired document with absolute links

_JSON_LD = "application/ld+json"
_RELATIONS = frozenset({"alternate", "amphtml", "author", "canonical", "license", "shortlink"})
_MAX_TITLE_CHARACTERS = 1_000
_SCRIPT = re.compile("</?script", re.IGNORECASE)


def repair_page(page: Page, noise: list[bool] | None = None) -> tuple[_Element, list[_Element | None]]:
    """Return a new tree of ``page``, repaired and without its ``noise`` nodes.

    We repair a page as the LCS paper preprocesses it: tags are closed, links absolute, scripts, styles and
    comments removed. Event handlers, script URLs, embedded pages, ``meta`` and ``base`` are removed too, so that
    nothing runs or redirects. The page's own tree is not changed.

    Returns:
        The tree, and the new element of each node; None for text and for nodes left out.
    """
    nodes, tags = page.nodes, output_tags(page.nodes)
    root = etree.Element("html")
    body = etree.SubElement(root, "body")
    made: list[_Element | None] = [body] + [None] * (len(nodes) - 1)
    homes = list(made)  # the element that gets the content of each node
    for index in range(1, len(nodes)):
        parent = homes[nodes.parents[index]]
        if parent is None or (noise is not None and noise[index]):
            continue
        if nodes.tags[index] is TEXT:
            _append_text(parent, nodes.texts[index])
        elif tags[index] in DROPPED or tags[index] == "link":
            homes[index] = parent
        else:
            made[index] = homes[index] = _copy_element(page, nodes.elements[index], parent, tags[index])
    return root, made


def clean_html(page: Page, noise: list[bool] | None = None) -> str:
    """Return the tree of :func:`repair_page` as markup.

    Example:
        >>> clean_html(Page.parse("https://a.test/", '<p onclick="x()">One <a href="/2">two'))
        '<html><body><p>One <a href="https://a.test/2">two</a></p></body></html>'
    """
    return markup_of(repair_page(page, noise)[0])


def clean_document(page: Page, noise: list[bool] | None = None) -> str:
    """Return :func:`clean_html` with the page's metadata.

    These are its declared language and, in a head, its title, ``meta`` elements, links to other versions of the
    page, and all of its JSON-LD.
    """
    root, _ = repair_page(page, noise)
    head = etree.Element("head")
    root.insert(0, head)
    etree.SubElement(head, "meta", charset="utf-8")
    if page.tree is not None:
        _set_attributes(root, safe_attributes(page.tree, page.absolute))
        for own in islice(page.tree.iter("head"), 1):
            for element in own.iter("title", "meta", "link"):
                _copy_to_head(page, element, head)
        for element in page.tree.iter("script"):
            _copy_to_head(page, element, head)
    return markup_of(root)


def _copy_to_head(page: Page, element: _Element, head: _Element) -> None:
    """Copy ``element`` into ``head`` if it is metadata of the page."""
    if element.tag == "script":
        text = element.text or ""
        if element.get("type", "").strip().lower() == _JSON_LD and not _SCRIPT.search(text):
            _append_text(etree.SubElement(head, "script", type=_JSON_LD), text)
    elif element.tag == "title":
        text = collapse_spaces("".join(map(str, element.itertext())))
        if len(text) <= _MAX_TITLE_CHARACTERS:  # an unclosed title holds the page
            _append_text(_copy_element(page, element, head, "title"), text)
    elif _describes_page(element):
        _copy_element(page, element, head, str(element.tag))


def _describes_page(element: _Element) -> bool:
    """Return True if a ``meta`` or ``link`` describes the page rather than how to read or draw it."""
    if element.tag == "meta":
        return element.get("charset") is None and element.get("http-equiv") is None
    relations = element.get("rel", "").lower().split()
    return bool(relations) and _RELATIONS.issuperset(relations)


def _copy_element(page: Page, element: _Element, parent: _Element, tag: str) -> _Element:
    try:
        copy = etree.SubElement(parent, tag)
    except ValueError:  # valid as an HTML tag but not as an XML name
        copy = etree.SubElement(parent, "span")
    _set_attributes(copy, safe_attributes(element, page.absolute))
    return copy


def _set_attributes(element: _Element, attributes: Iterable[tuple[str, str]]) -> None:
    for name, value in attributes:
        try:
            element.set(name, value)
        except ValueError:
            continue


def _append_text(parent: _Element, text: str) -> None:
    text = "".join(letter for letter in text if letter >= " " or letter in "\t\n\r")
    last = next(parent.iterchildren(reversed=True), None)  # len() of an element counts its children
    if last is not None:
        last.tail = (last.tail or "") + text
    else:
        parent.text = (parent.text or "") + text
