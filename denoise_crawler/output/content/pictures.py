"""Pictures, videos, sounds and posts of other sites: their addresses, and those that are decoration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.etree import _Element

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
_SIZES = re.compile(r"-\d{2,4}x\d{2,4}(?=\.\w+$)|(?<=/)styles/[^/]+/(?:public/)?", re.IGNORECASE)
_NUMBER = re.compile(r"\s*(\d+)(?:px)?\s*")
_CANDIDATE = re.compile(r"\s*([^\s,]\S*[^\s,])(?:\s+([\d.]+)[wx])?\s*(?:,|$)")


def picture_of(page: Page, element: _Element, link: str) -> Picture | None:
    """Return an ``img`` as a picture; None if it is decoration or has no address.

    The ``link`` that it stands in is left out if it leads to the same picture, larger.
    """
    if is_decoration(element):
        return None
    for address in _addresses(element):
        if address and (found := safe_url(page.absolute(address))):
            alternative = collapse_spaces(element.get("alt", ""))
            return Picture(found, alternative, "" if _file_name(link) == _file_name(found) else link)
    return None


def is_decoration(element: _Element) -> bool:
    """Tell whether a picture is a logo, an avatar, an icon or a tracker, by its size, names and address."""
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
    """Tell whether an address is that of a picture."""
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
    found = _NUMBER.fullmatch(element.get(name, "")[:20])
    return int(found.group(1)) if found else None


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
    best, best_size = "", 0.0
    for found in _CANDIDATE.finditer(candidates[:20_000]):
        try:
            size = float(found.group(2) or 1)
        except ValueError:
            continue
        if size > best_size:
            best, best_size = found.group(1), size
    return best


EMBEDS = frozenset({"iframe", "embed", "video", "audio"})
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
    if element.tag in ("video", "audio"):
        sources += [source.get("src", "") for source in element.iter("source")]
    written = next((source.strip() for source in sources if source.strip() not in ("", "about:blank")), "")
    address = safe_url(page.absolute(written)) if written else ""
    if not address.startswith(("http://", "https://")):
        return None
    if element.tag in ("iframe", "embed") and (not _HOSTS.match(address) or _BUTTON.search(address)):
        return None
    title = element.get("title", "") or element.get("aria-label", "")
    return Embed(_watched(address), collapse_spaces(title)[:200])


def is_embedded(address: str) -> bool:
    """Tell whether an address is of a host whose videos and posts are content of other pages."""
    return _HOSTS.match(address) is not None


def _watched(address: str) -> str:
    """Return the page of a video or post instead of its player."""
    for begin, player in _WATCHED.items():
        if found := player.match(address):
            return begin + found[1]
    return address
