"""What no output of a page may hold: read as a browser reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resiliparse.parse.html import HTMLTree, NodeType

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LOCKS = ("content-security-policy", "x-dns-prefetch-control")
ADDRESSES = ("href", "src", "action", "formaction", "data", "xlink:href", "content", "poster", "background")


def harm_in(markup: str) -> Iterator[str]:
    """Yield what is harmful in a document as an HTML5 parser builds it."""
    waiting: list[Any] = [HTMLTree.parse(markup).document]
    while waiting:
        node = waiting.pop()
        waiting += node.child_nodes
        if node.type != NodeType.ELEMENT:
            continue
        attributes = {str(name).lower(): node.getattr(name) or "" for name in node.attrs}
        tag = str(node.tag).lower()
        if tag == "script" and attributes.get("type") != "application/ld+json":
            yield f"{tag} {attributes}"
        if tag == "meta" and attributes.get("http-equiv", "").lower() not in ("", *LOCKS):
            yield f"{tag} {attributes}"
        if tag == "base" and (set(attributes) != {"href"} or harms(tag, "href", attributes["href"])):
            yield f"{tag} {attributes}"
        yield from (f"{tag} {name}={value}" for name, value in attributes.items() if harms(tag, name, value))


def harms(tag: str, name: str, value: str) -> bool:
    """Tell whether an attribute runs something or shows another page."""
    runs = name in ADDRESSES and "".join(value.split()).lower().startswith(("javascript:", "vbscript:"))
    shows = tag in ("iframe", "embed", "object", "frame") and name in ("src", "data")
    return runs or shows or name.startswith("on") or name == "srcdoc"
