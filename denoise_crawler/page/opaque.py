"""Elements whose content is not for reading, and when it is read all the same: they were never closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

# A noscript is a notice or a picture's stand-in. One with more text was never closed, or a forum writes its
# posts there for those without scripts.
NOTICE = 1_000
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"})
# Elements whose content is not for reading: pictures and media with what stands in for them, controls …
OPAQUE = frozenset(
    {"iframe", "svg", "object", "video", "audio", "canvas"}
    | {"button", "select", "option", "datalist", "textarea"}
)
# … unless they hold one of these: then they were never closed, and the rest of the page stands in them.
BLOCKS = ("p", "div", "table", "ul", "ol", "article", "section", "h1", "h2", "h3", "h4", "h5", "h6")


def is_read(opaque: Element, swallowing: set[Element]) -> bool:
    """Tell whether the text of an element that holds none for reading is read after all."""
    above = opaque.getparent()
    if opaque.tag == "button" and above is not None and above.tag in HEADINGS:
        return True  # a question that opens its answer
    return swallows(opaque, swallowing)


def is_no_notice(noscript: Element, swallowing: set[Element]) -> bool:
    """Tell whether ``noscript`` holds more text than a notice; those inside of it are noted in ``swallowing``."""
    if noscript in swallowing:
        return True
    characters = 0
    for text in noscript.itertext():
        characters += len(text.strip())
        if characters > NOTICE:
            swallowing.update(noscript.iter("noscript"))
            return True
    return False


def swallows(opaque: Element, swallowing: set[Element]) -> bool:
    """Tell whether a block stands in ``opaque``; opaque elements around that block are noted in ``swallowing``.

    So nested opaque elements are searched once, not once a level.
    """
    if opaque in swallowing:
        return True
    if (block := next(opaque.iter(*BLOCKS), None)) is None:
        return False
    for element in block.iterancestors(*OPAQUE):
        if element is opaque:
            break
        swallowing.add(element)
    return True
