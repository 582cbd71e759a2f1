"""The tags that a page's elements are written with, so that a browser shows their content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.output.safe_markup import EMPTIED, safe_tag_name
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from denoise_crawler.page import Nodes

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
