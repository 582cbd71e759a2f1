"""Pages that show nothing but a dialog that asks for consent: by the dialog's own names and by addresses."""

from __future__ import annotations

import re

from denoise_crawler.page.nodes import TEXT, Element, Nodes
from denoise_crawler.page.self_description import SelfDescription

MAX_CHARACTERS = 10_000  # of a wall; a page with more text is none
_LEAST_INSIDE = 60  # characters of the dialog
_MOST_OUTSIDE, _MOST_LINKED = 100, 300  # characters beside it: of text, and of links as a site's menu has them
# The elements that consent platforms put into a page, by the beginning of an id or a class.
_NAMES = (
    "onetrust-", "ot-sdk-", "didomi-", "sp_message", "qc-cmp", "cybotcookiebot", "usercentrics-", "truste",
    "uc-center-container", "consent_blackb", "fc-consent", "fc-dialog", "iubenda-cs", "cky-consent", "cky-modal",
    "cmplz-cookiebanner", "osano-cm", "cmpbox", "cmpwrapper", "tarteaucitron", "axeptio", "borlabs-cookie",
    "borlabscookie", "klaro", "cc-window", "termly", "consent-page", "consent-overlay", "cookiewall",
    "cookie-wall",
)  # fmt: skip
_NAMED = re.compile(rf"(?:^|\s)(?:{'|'.join(_NAMES)})", re.IGNORECASE)
# Hosts that serve nothing else, and paths that say so and carry the address to go back to.
_HOSTS = r"(?:consent\.(?:yahoo|google|youtube)\.[a-z.]{2,6}|guce\.[\w-]+\.com|myprivacy\.dpg\w+\.\w+)(?:[/?#:]|$)"
_PATHS = r"[^/?#]+/(?:[\w-]+/)?(?:consent|cookie-?wall|cookie-?consent|privacy-?(?:gate|wall))(?:/[^?#]*)?[?]"
_BACK = r"(?:[^#]*&)?[\w-]+=(?:https?(?::|%3a)|/|%2f)"
_ADDRESS = re.compile(rf"https?://(?:{_HOSTS}|{_PATHS}{_BACK})", re.IGNORECASE)
_HEADINGS = frozenset({"h1", "h2"})
_ASKS = ("button", "form", "input")
_WORK_TYPE = re.compile(r"\s*(?:article|product|book|video)\b", re.IGNORECASE)
_WORK = re.compile(r'"@type"\s*:\s*\[?\s*"(?:\w*Article|\w*Posting|Product|Recipe|Report|Review|QAPage|\w*Event)"')
_WORK_TEXTS = ("articleBody", "recipeInstructions", "reviewBody")


def is_consent_wall(url: str, nodes: Nodes, root: Element, description: SelfDescription) -> bool:
    """Return True if a page shows nothing but a dialog that asks for consent.

    Words alone are no evidence. Either the element of a consent platform holds nearly all text of the page, or the
    page has the address of such a dialog; and it declares no article, product or other work. Pages with more text
    than MAX_CHARACTERS are not asked about.
    """
    if _declares_work(description):  # as most pages do
        return False
    by_address = _ADDRESS.match(url) is not None and next(root.iter(*_ASKS), None) is not None
    return by_address or _is_all_dialog(nodes)


def _declares_work(description: SelfDescription) -> bool:
    if any(map(_WORK_TYPE.match, [meta.content for meta in description.metas if meta.property == "og:type"])):
        return True
    if any(name in _WORK_TEXTS for name, _ in description.texts):
        return True
    return any("ld+json" in kind and _WORK.search(script.text or "") for kind, script in description.scripts)


def _is_all_dialog(nodes: Nodes) -> bool:
    """Return True if the elements of consent platforms hold nearly all text, and all headings."""
    heading = next((one for one in nodes.tagged(_HEADINGS) if any(nodes.texts[one : nodes.end_of(one)])), -1)
    while heading > 0 and not _is_named(nodes, heading):
        heading = int(nodes.columns.parents[heading])
    if not heading:
        return False  # it stands in no dialog, as on most pages
    inside = outside = all_outside = index = 0
    while (index := index + 1) < len(nodes):
        tag = nodes.tag_of(index)
        if tag == TEXT:
            characters = len(nodes.texts[index].strip())
            all_outside += characters
            outside += characters if nodes.link_of(index) < 0 else 0
        elif _is_named(nodes, index):
            inside += sum(map(len, nodes.texts[index : nodes.end_of(index)]))
            index = nodes.end_of(index) - 1
        elif tag in _HEADINGS and any(nodes.texts[index : nodes.end_of(index)]):
            return False
        if outside > _MOST_OUTSIDE or all_outside > _MOST_OUTSIDE + _MOST_LINKED:
            return False
    return inside >= max(_LEAST_INSIDE, outside)


def _is_named(nodes: Nodes, index: int) -> bool:
    attributes = nodes.attributes_of(index, {})
    return attributes is not None and _NAMED.search(f"{attributes[1]} {attributes[0]}") is not None
