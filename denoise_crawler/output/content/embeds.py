"""Videos, sounds and posts of other sites that a page shows in a frame, as links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import Embed
from denoise_crawler.output.content.links import safe_url
from denoise_crawler.page.text import collapse_spaces

if TYPE_CHECKING:
    from lxml.etree import _Element

    from denoise_crawler.page import Page

EMBEDS = frozenset({"iframe", "embed", "video", "audio"})
_SOURCES = ("src", "data-src", "data-lazy-src", "data-litespeed-src")
_YOUTUBE = re.compile(r"https?://(?:www\.)?youtube(?:-nocookie)?\.com/(?:embed|v|shorts)/([\w-]{11})")
_TWEET = re.compile(r"https?://platform\.(?:twitter|x)\.com/embed/.*[?&]id=(\d+)")
_VIMEO = re.compile(r"https?://player\.vimeo\.com/video/(\d+)")
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
    if found := _YOUTUBE.match(address):
        return f"https://www.youtube.com/watch?v={found.group(1)}"
    if found := _TWEET.match(address):
        return f"https://x.com/i/status/{found.group(1)}"
    if found := _VIMEO.match(address):
        return f"https://vimeo.com/{found.group(1)}"
    return address
