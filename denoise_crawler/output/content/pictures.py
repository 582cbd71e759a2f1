"""Pictures, videos, sounds and posts of other sites: their addresses, and those that are decoration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from lxml.etree import _Element

from denoise_crawler.methods.base import inherit
from denoise_crawler.output.content.blocks import Embed, Picture
from denoise_crawler.output.content.links import safe_url
from denoise_crawler.page import Page
from denoise_crawler.page.text import collapse_spaces

MAX_ICON_SIZE = 32  # pixels
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-full-src", "data-hi-res-src", "data-image")
_LAZY_SETS = ("data-srcset", "data-lazy-srcset")
_PLACEHOLDER = re.compile(
    r"(?:^|[/_-])(?:blank|spacer|placeholder|loading|lazy|transparent|pixel|1x1|grey|clear)[\w-]*\.", re.IGNORECASE
)
_DECORATION = re.compile(
    r"(?:^|[\s_/.-])(?:logo|avatar|gravatar|spacer|sprite|tracking|tracker|pixel|beacon|emoji|smiley|badge|favicon|icon|icons"
    r"|author-photo|author-image|userpic|profile-pic\w*)(?:$|[\s_/.?-])",
    re.IGNORECASE,
)
_TRACKER = re.compile(
    r"//(?:[\w-]+\.)*(?:gravatar\.com|doubleclick\.net|google-analytics\.com|googleadservices\.com|scorecardresearch\.com"
    r"|quantserve\.com|feedburner\.com|pixel\.wp\.com|stats\.wordpress\.com|facebook\.com/tr|shields\.io)",
    re.IGNORECASE,
)
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)$", re.IGNORECASE)
_PHOTO = re.compile(r"\.(?:jpe?g|png|webp|avif)$", re.IGNORECASE)
_SIZES = re.compile(r"-\d{2,4}x\d{2,4}(?=\.\w+$)|(?<=/)styles/[^/]+/(?:public/)?", re.IGNORECASE)
_NUMBER = re.compile(r"\s*(\d+)(?:px)?\s*")
_DESCRIPTOR = re.compile(r"(\d{1,9}(?:\.\d{0,9})?)[wx]")


def picture_of(page: Page, element: _Element, link: str) -> Picture | None:
    """Return an ``img`` as a picture; None if it is decoration or has no address.

    The ``link`` that it stands in is left out if it leads to the same picture, larger.
    """
    if is_decoration(element):
        return None
    for address in _addresses(element):
        if address and (source := safe_url(page.absolute(address))):
            alternative = collapse_spaces(element.get("alt", ""))
            return Picture(source, alternative, "" if _file_name(link) == _file_name(source) else link)
    return None


def picture_without_scripts(element: _Element) -> _Element | None:
    """Return the picture that an element without one has for readers without scripts; None if it has none."""
    stand_in = next(element.iter("noscript"), None)
    picture = None if stand_in is None else next(stand_in.iter("img"), None)
    # most others that stand there are trackers
    return picture if picture is not None and _PHOTO.search(picture.get("src", "").partition("?")[0]) else None


def is_decoration(element: _Element) -> bool:
    """Return True if a picture is a logo, an avatar, an icon or a tracker, by its size, names and address."""
    sizes = [_size(element, name) for name in ("width", "height")]
    if any(size is not None and size <= 2 for size in sizes):
        return True
    if all(size is not None and size <= MAX_ICON_SIZE for size in sizes):
        return True
    if any(_DECORATION.search(element.get(name, "")) for name in ("class", "id")):
        return True
    address = element.get("src", "")[:1_000]
    return _TRACKER.search(address) is not None or _DECORATION.search(address.rpartition("/")[2]) is not None


def is_picture(address: str) -> bool:
    """Return True if an address is that of a picture."""
    return _PICTURE.search(re.split("[?#]", address, maxsplit=1)[0]) is not None


def any_size(address: str) -> str:
    """Return the address of a picture without what says how large it is.

    Example:
        >>> any_size("https://a.test/boat-300x200.jpg?w=300"), any_size("https://a.test/styles/large/boat.jpg")
        ('https://a.test/boat.jpg', 'https://a.test/boat.jpg')
    """
    plain = address.partition("?")[0] if is_picture(address) else address
    return _SIZES.sub("", plain)


def _file_name(address: str) -> str:
    return re.split("[?#]", address, maxsplit=1)[0].rpartition("/")[2]


def _size(element: _Element, name: str) -> int | None:
    match = _NUMBER.fullmatch(element.get(name, "")[:20])
    return int(match.group(1)) if match else None


def _addresses(element: _Element) -> Iterator[str]:
    """Yield addresses of a picture, the most likely real one first."""
    for name in _LAZY:
        yield element.get(name, "").strip()
    for name in _LAZY_SETS:
        yield largest(element.get(name, ""))
    source = element.get("src", "").strip()
    stands_in = not source or source.startswith("data:") or _PLACEHOLDER.search(source[:1_000]) is not None
    if not stands_in:
        yield source
    yield largest(element.get("srcset", ""))
    for other in _sources(element):
        yield largest(other.get("srcset") or other.get("data-srcset") or "")
    following = element.getnext()
    if following is not None and following.tag == "noscript":
        yield from (one.get("src", "").strip() for one in following.iter("img"))
    if element.get("alt", "").strip():  # else it only stands in for another
        yield source


def _sources(picture: _Element) -> list[_Element]:
    """Return the sources of the ``picture`` around an image; parsers may put the image into them."""
    above = picture.getparent()
    while above is not None and above.tag == "source":
        above = above.getparent()
    return list(above.iter("source")) if above is not None and above.tag == "picture" else []


def largest(candidates: str) -> str:
    """Return the largest picture of a ``srcset``.

    Example:
        >>> largest("a.png 1x, b,c.png 2x"), largest("a.png")
        ('b,c.png', 'a.png')
    """
    best, best_size, address = "", 0.0, ""
    for word in (*candidates[:20_000].split(), ""):
        size, _, behind = word.partition(",")
        described = _DESCRIPTOR.fullmatch(size) if address else None
        if address and (width := float(described[1]) if described else 1.0) > best_size:
            best, best_size = address, width
        address = behind if described else word.strip(",")
    return best


_PLAYERS = {"amp-youtube": "data-videoid", "lite-youtube": "videoid", "youtube-video": "videoid"}
_VIDEO = re.compile(r"[\w-]{11}")
PICTURES = frozenset({"img", "amp-img"})
EMBEDS = frozenset({"iframe", "embed", "video", "audio", "amp-iframe", "amp-video", *_PLAYERS})
_SOURCES = ("src", "data-src", "data-lazy-src", "data-litespeed-src")
_WATCHED = {
    "https://www.youtube.com/watch?v=": re.compile(
        r"https?://(?:www\.)?youtube(?:-nocookie)?\.com/(?:embed|v|shorts)/([\w-]{11})"
    ),
    "https://x.com/i/status/": re.compile(r"https?://platform\.(?:twitter|x)\.com/embed/.*[?&]id=(\d+)"),
    "https://vimeo.com/": re.compile(r"https?://player\.vimeo\.com/video/(\d+)"),
}
_BUTTON = re.compile(r"/widgets/(?:tweet|follow)_button", re.IGNORECASE)
_HOSTS = re.compile(
    r"https?://(?:[\w-]+\.)*(?:youtube\.com|youtube-nocookie\.com|youtu\.be|vimeo\.com|dailymotion\.com|twitch\.tv|ted\.com"
    r"|bilibili\.com|wistia\.(?:com|net)|brightcove\.(?:net|com)|jwplatform\.com|loom\.com|streamable\.com|rumble\.com"
    r"|soundcloud\.com|spotify\.com|podcasts\.apple\.com|music\.apple\.com|bandcamp\.com|mixcloud\.com|simplecast\.com"
    r"|twitter\.com|x\.com|instagram\.com|tiktok\.com|bsky\.app|reddit\.com|redditmedia\.com|threads\.net|facebook\.com/plugins/(?:post|video)\.php"
    r"|codepen\.io|jsfiddle\.net|codesandbox\.io|stackblitz\.com|replit\.com|gist\.github\.com|observablehq\.com"
    r"|slideshare\.net|speakerdeck\.com|scribd\.com|issuu\.com|docs\.google\.com|google\.com/maps|datawrapper\.(?:de|dwcdn\.net)"
    r"|dwcdn\.net|flourish\.studio|archive\.org)[/?]",
    re.IGNORECASE,
)


def embed_of(page: Page, element: _Element) -> Embed | None:
    """Return what a frame or a player shows; None if it is not known to be content (an advertisement)."""
    sources = [element.get(name, "") for name in _SOURCES]
    if (name := _PLAYERS.get(str(element.tag))) and _VIDEO.fullmatch(video := element.get(name, "")):
        sources.append(f"https://www.youtube.com/watch?v={video}")
    if element.tag in ("video", "audio"):
        sources += [source.get("src", "") for source in element.iter("source")]
    written = next((source.strip() for source in sources if source.strip() not in ("", "about:blank")), "")
    address = safe_url(page.absolute(written)) if written else ""
    if not address.startswith(("http://", "https://")):
        return None
    if element.tag in ("iframe", "embed", "amp-iframe") and (not _HOSTS.match(address) or _BUTTON.search(address)):
        return None
    title = element.get("title", "") or element.get("aria-label", "")
    return Embed(_watched(address), collapse_spaces(title)[:200])


def is_embedded(address: str) -> bool:
    """Return True if an address is of a host whose videos and posts are content of other pages."""
    return _HOSTS.match(address) is not None


def _watched(address: str) -> str:
    """Return the page of a video or post instead of its player."""
    for begin, player in _WATCHED.items():
        if match := player.match(address):
            return begin + match[1]
    return address


# --- which pictures, formulas and embedded posts belong to the content that is kept
# They hold no text that could be judged, so the text around them decides: that of the nearest element with any.
# The credit of a figure does not: where all text of a figure is noise, the text around the figure decides.

MIN_KEPT_SHARE = 0.5  # of the text around, before and behind the content
MIN_KEPT_SHARE_INSIDE = 0.1  # the same, between two kept texts
_MOST_LEVELS = 8  # between a picture and its figure


class Belonging:
    """Tells of nodes without text whether they belong to the kept content of a page.

    Example:
        >>> page = Page.parse("", "<div><img>Menu</div><p><img>A story.</p>")
        >>> belonging = Belonging(page, [False, True, True, True, False, False, False])
        >>> belonging(2), belonging(5)
        (False, True)
    """

    def __init__(self, page: Page, noise: list[bool] | None) -> None:
        self._nodes, self._noise = page.nodes, noise
        self._gone: list[bool] = []  # noise and what stands in it
        self._until: list[int] = []  # before each node, the characters of the page
        self._kept: list[int] = []  # the same of those kept

    def __call__(self, index: int) -> bool:
        """Return True if node ``index`` belongs to the kept content."""
        if self._noise is None:
            return True
        if not self.stays(index):
            return False
        if not self._until:
            self._count(self._noise)
        around = self._nearest_text(index)
        figure = self._figure(index)
        if 0 <= figure <= around:
            if self._kept[self._nodes.ends[figure]] > self._kept[figure]:
                return True
            around = self._nearest_text(self._nodes.parents[figure], without=figure)
        end = self._nodes.ends[around]
        kept = self._kept[end] - self._kept[around]
        inside = 0 < self._kept[index] < self._kept[-1]
        least = MIN_KEPT_SHARE_INSIDE if inside else MIN_KEPT_SHARE
        return kept > 0 and kept >= least * (self._until[end] - self._until[around])

    def stays(self, index: int) -> bool:
        """Return True if node ``index`` neither is noise nor stands in it."""
        if self._noise is not None and not self._gone:
            self._gone = inherit(self._noise, self._nodes.ends)
        return self._noise is None or not self._gone[index]

    def _count(self, noise: list[bool]) -> None:
        sizes = [len(text) for text in self._nodes.texts]
        self._until = list(accumulate(sizes, initial=0))
        kept = (0 if gone else size for size, gone in zip(sizes, noise, strict=True))
        self._kept = list(accumulate(kept, initial=0))

    def _figure(self, index: int) -> int:
        """Return the figure around a node; -1 if there is none."""
        for _ in range(_MOST_LEVELS + 1):
            if index <= 0 or self._nodes.tags[index] == "figure":
                return index if index > 0 else -1
            index = self._nodes.parents[index]
        return -1

    def _nearest_text(self, index: int, without: int = 0) -> int:
        """Return the nearest node at or above ``index`` with text in it, and not only below ``without``."""
        nodes, until = self._nodes, self._until
        inside = until[nodes.ends[without]] - until[without] if without else 0
        while index > 0 and until[nodes.ends[index]] - until[index] == inside:
            index = nodes.parents[index]
        return index
