"""Declarative shadow roots: what a browser shows of an element is its template, with its children in the slots."""

from __future__ import annotations

from lxml.etree import _Element as Element

from denoise_crawler.page.parsing import parse

_MOST = 300  # templates
_SIGN = "shadowroot"
_ATTRIBUTES = ("shadowrootmode", "shadowroot")


def has_shadow_roots(source: str | bytes) -> bool:
    """Return True if an HTML source may hold a declarative shadow root."""
    return _SIGN in source if isinstance(source, str) else _SIGN.encode() in source


def parse_as_shown(source: str | bytes) -> Element | None:
    """Parse a source and put what its shadow roots show in place of their templates.

    Example:
        >>> root = parse_as_shown("<x-a><template shadowrootmode=open><p>1 <slot></slot></p></template>2</x-a>")
        >>> "".join(root.itertext())
        '1 2'
    """
    root = parse(source)
    templates = [] if root is None else [one for one in root.iter("template") if any(map(one.get, _ATTRIBUTES))]
    for template in reversed(templates[:_MOST]):  # those inside of others first
        _show(template)
    return root


def _show(template: Element) -> None:
    """Put the content of a template in place of the children of its host, and these into its slots."""
    host = template.getparent()
    if host is None:
        return
    children = [child for child in host if child is not template]
    text = (host.text or "") + (template.tail or "")
    for child in [*host]:
        host.remove(child)
    slots = [*template.iter("slot")]
    for slot in slots:
        name = slot.get("name", "")
        chosen = [child for child in children if isinstance(child.tag, str) and child.get("slot", "") == name]
        if not chosen and (name or not text.strip()):
            continue  # what stands in the slot itself is shown
        for child in [*slot]:
            slot.remove(child)
        slot.text = "" if name else text
        slot.extend(chosen)
        children = [child for child in children if child not in chosen]
    host.text = template.text
    host.extend([*template])
