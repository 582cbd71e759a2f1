"""Markup that executes nothing, used by every output: tags, documents, style sheets; files never behind links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import escape
from pathlib import Path
from typing import TypeAlias

from lxml.etree import _Element

from denoise_crawler.errors import LinkedOutputError
from denoise_crawler.output.nesting import VOID
from denoise_crawler.page import TEXT, Nodes
from denoise_crawler.page.markup import URL_ATTRIBUTES

Attributes: TypeAlias = "Iterable[tuple[str, str]]"

_WEB = " http: https:"
# Elements that are scripts, fetch them, change URLs later or redirect the page.
DROPPED = frozenset(
    {"script", "meta", "base", "param", "source", "track", "set", "animate", "animatemotion"}
    | {"animatetransform", "handler", "listener", "portal", "fencedframe"}
)
EMPTIED = frozenset({"iframe", "object", "embed", "applet", "frame"})

_TAG = re.compile(r"[a-zA-Z][^\s/>\0]*")
_NAME = re.compile(r"[^\s\"'<>/=\0-\x1f\x7f]+")
_UNWANTED = frozenset(
    {"srcdoc", "ping", "nonce", "integrity", "crossorigin", "autoplay", "autofocus", "http-equiv", "manifest"}
    | {"attributionsrc", "browsingtopics", "sharedstoragewritable"}
)
_SOURCES = frozenset({"src", "data", "code", "codebase", "archive", "srcset"})
_IGNORED = re.compile(r"[\0-\x20\x7f-\xa0\u200b-\u200f\u2028\u2029\ufeff]+")
_EXECUTABLE_SCHEMES = (
    "javascript:",
    "vbscript:",
    "livescript:",
    "data:text/html",
    "data:application/",
    "data:text/xml",
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
    """Tell whether a browser that follows the URL ``value`` may execute it."""
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
    file.write_text(text, encoding="utf-8", errors="replace", newline="\n")
