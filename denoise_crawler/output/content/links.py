"""Links of the content: their addresses, those that are no content, and lists of contents written as links."""

from __future__ import annotations

import re
from collections.abc import Iterator

from denoise_crawler.output.content.blocks import Block, Inline, LineBreak, List, Paragraph
from denoise_crawler.output.content.nested import LISTS
from denoise_crawler.output.safe_markup import is_executable
from denoise_crawler.page import TEXT, Nodes, Page

MAX_URL_CHARACTERS = 4_000
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_SCHEMES = ("http:", "https:", "mailto:", "tel:", "ftp:", "ftps:", "magnet:", "news:", "doi:", "geo:", "sms:")
_BLANK = re.compile(r"[\0-\x20\x7f-\xa0\u200b-\u200f\u2028\u2029\ufeff]+")
_ROUTES = ("#/", "#!")  # to other pages of an application
_MARKS = r"\s#¶§🔗\ufe0f\u200b\ue000-\uf8ff"  # those of icon fonts are in the private area of Unicode
_PERMALINK_TEXT = re.compile(
    rf"(?:[{_MARKS}⚓∞]|permalink|anchor|(?:direct |perma)?link(?: to (?:this )?\w+)?)*", re.IGNORECASE
)
_SIGNS = re.compile(rf"[{_MARKS}\ufe0e^↩↵⤴↑⏎🔙]{{1,5}}")
_PERMALINK_CLASS = re.compile(
    r"(?:^|\s)(?:headerlink|permalink|anchor|anchor-link|heading-anchor|hash-link|header-anchor)(?:\s|$)"
)
_CONTROL, _MAX_CONTROL_NODES = re.compile(r"\s*\[[^\[\]]{1,40}\]\s*"), 12
_SHARE = re.compile(
    r"(?:https?:)?//(?:[\w-]+\.)*(?:"
    r"facebook\.com/(?:sharer|share\.php|dialog/(?:share|feed))"
    r"|(?:twitter|x)\.com/(?:intent/|share\b|home\?status=)"
    r"|linkedin\.com/(?:sharearticle|sharing|cws/share)"
    r"|pinterest\.[a-z.]+/pin/create"
    r"|reddit\.com/submit|tumblr\.com/(?:share|widgets/share)|api\.whatsapp\.com/send\?(?:.*&)?text="
    r"|web\.whatsapp\.com/send|wa\.me/\?text=|(?:t\.me|telegram\.me)/share|getpocket\.com/(?:save|edit)"
    r"|vk\.com/share|connect\.ok\.ru/|share\.flipboard\.com|bsky\.app/intent|plus\.google\.com/share"
    r"|news\.ycombinator\.com/submitlink|addtoany\.com|service\.weibo\.com/share|line\.me/r/msg"
    r"|b\.hatena\.ne\.jp/(?:add|entry)|threads\.net/intent|mastodonshare\.com|buffer\.com/add)"
    r"|mailto:\?|whatsapp:|fb-messenger:",
    re.IGNORECASE,
)


def safe_url(address: str) -> str:
    r"""Return a URL that a reader may follow; empty if it is too long or could run something.

    Example:
        >>> safe_url("https://a.test/x y"), safe_url("java\nscript:x()")
        ('https://a.test/x y', '')
    """
    address = address.strip()
    if len(address) > MAX_URL_CHARACTERS or is_executable(address):
        return ""
    scheme = _SCHEME.match(_BLANK.sub("", address[:100]))
    return address if scheme is None or scheme.group().lower() in _SCHEMES else ""


def is_share_link(address: str) -> bool:
    """Return True if a link posts the page somewhere.

    Example:
        >>> is_share_link("https://twitter.com/intent/tweet?url=x"), is_share_link("https://twitter.com/a")
        (True, False)
    """
    return _SHARE.match(address) is not None


def is_permalink(nodes: Nodes, link: int, *, in_heading: bool = False) -> bool:
    """Return True if a link with a fragment only leads to the place where it stands, under a sign or no text."""
    element = nodes.elements[link]
    address = element.get("href", "").strip()
    if "#" not in address:
        return False
    marked = _PERMALINK_CLASS.search(element.get("class", "")) is not None
    text = "".join(nodes.texts[link : nodes.end_of(link)])
    if text and address.startswith("#") and _SIGNS.fullmatch(text):
        return True  # back to where a note is referred to
    if not (marked or in_heading):
        return False
    return len(text) < 60 and _PERMALINK_TEXT.fullmatch(text) is not None


def is_control(nodes: Nodes, index: int) -> bool:
    """Return True if an element of a heading is a link in brackets, as "[edit]"."""
    end = nodes.ends[index]
    if "a" not in nodes.tags[index:end] or end - index > _MAX_CONTROL_NODES:
        return False
    return _CONTROL.fullmatch("".join(nodes.texts[index:end])) is not None


class Links:
    """The addresses of a page's links, each made once."""

    def __init__(self, page: Page) -> None:
        self._page, self._nodes = page, page.nodes
        self._addresses: dict[int, str] = {}
        self._own = page.url.partition("#")[0]

    def address(self, link: int, *, in_heading: bool = False) -> str:
        """Return the address of a link node (-1: no link); empty if it leads to another place of the page.

        A heading's link to the page is one to itself, however it is written.
        """
        if link < 0:
            return ""
        written = self._nodes.elements[link].get("href", "").strip()
        if written.startswith("#") and not written.startswith(_ROUTES):
            return ""
        if link not in self._addresses:
            self._addresses[link] = safe_url(self._page.absolute(written)) if written else ""
        address = self._addresses[link]
        return "" if in_heading and address.partition("#")[0] == self._own else address


MIN_LINKS = 3
MAX_NODES = 2_000
_CONTENTS = re.compile(r"(?:^|[\s_-])(?:toc|table[-_]?of[-_]?contents)(?:$|[\s_-])", re.IGNORECASE)


def links_of_contents(nodes: Nodes, index: int) -> int:
    """Return how many links an element holds that is a list of contents without being a list; 0 if it is none."""
    element, end = nodes.elements[index], nodes.ends[index]
    if not any(_CONTENTS.search(element.get(name, "")) for name in ("class", "id", "role")):
        return 0
    if end - index > MAX_NODES or nodes.holds(index, end, LISTS):
        return 0
    texts = [one for one in range(index, end) if nodes.tags[one] is TEXT]
    links = {nodes.links[one] for one in texts[_titles(nodes, texts) :]}
    if len(links) < MIN_LINKS or min(links) < index:
        return 0
    return len(links) if all("#" in nodes.elements[link].get("href", "") for link in links) else 0


def as_list(blocks: list[Block], links: int) -> list[Block]:
    """Return the blocks of a list of contents with its lines as a list, if each of its ``links`` has one."""
    lines = [line for block in blocks if isinstance(block, Paragraph) for line in _lines(block.content)]
    titles = len(lines) - links
    if titles not in (0, 1):
        return blocks
    others = [block for block in blocks if not isinstance(block, Paragraph)]
    items: list[list[Block]] = [[Paragraph(line)] for line in lines[titles:]]
    return [*others, *map(Paragraph, lines[:titles]), List(items, ordered=False, start=1)]


def _titles(nodes: Nodes, texts: list[int]) -> int:
    """Return how many of the ``texts`` stand above the first link."""
    return next((number for number, one in enumerate(texts) if nodes.links[one] >= 0), len(texts))


def _lines(content: list[Inline]) -> Iterator[list[Inline]]:
    line: list[Inline] = []
    for piece in content:
        if isinstance(piece, LineBreak):
            if line:
                yield line
            line = []
        else:
            line.append(piece)
    if line:
        yield line
