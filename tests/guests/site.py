"""A site made for crawls that are compared: the same furniture on each page, a story that only this page tells."""

import io
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from random import Random

from PIL import Image

from tests.loopback import HTML, Answer, Served, serving

LATE = 2.5  # seconds until a page below /late/ comes
_LONGEST_HOLD = 60.0
_VOWELS, _CONSONANTS = "aeiou", "bdfgklmnprstvz"
_NAMES = ("Home", "World", "Science", "Sport", "Weather", "Letters", "Archive", "Contact")
_MENU = "".join(f'<li><a href="/section/{name.lower()}">{name}</a></li>' for name in _NAMES)
_ASIDE = (
    "<h3>Most read</h3><p>The ten stories that most readers of this paper opened in the last week.</p>"
    "<h3>Newsletter</h3><p>Leave your address and get a letter from us every morning except Sundays.</p>"
)
_FOOTER = "<p>All rights reserved. Imprint, privacy, terms of use and how to write a letter to the editor.</p>"


@lru_cache(maxsize=1_024)
def story(name: str) -> tuple[str, ...]:
    """Return the paragraphs of the page ``name``: words that no other page has."""
    random = Random(f"story {name}")

    def word() -> str:
        parts = (random.choice(_CONSONANTS) + random.choice(_VOWELS) for _ in range(random.randint(2, 4)))
        return "".join(parts)

    return tuple(" ".join(word() for _ in range(30)).capitalize() + "." for _ in range(4))


def html(name: str, inside: str = "") -> str:
    """Return the page ``name``; ``inside`` stands below its story."""
    told = "".join(f"<p>{paragraph}</p>" for paragraph in story(name))
    return (
        f"<!DOCTYPE html><html><head><title>Story {name}</title></head><body>"
        f'<header><a href="/">The Guest</a><nav><ul>{_MENU}</ul></nav></header>'
        f'<main><h1>Story {name}</h1><div class="story">{told}</div>{inside}</main>'
        f"<aside>{_ASIDE}</aside><footer>{_FOOTER}</footer></body></html>"
    )


@lru_cache(maxsize=4_096)
def image(name: str) -> bytes:
    """Return a picture of a colour of its own."""
    colour = Random(f"colour {name}").randbytes(3)
    written = io.BytesIO()
    Image.new("RGB", (8, 8), (colour[0], colour[1], colour[2])).save(written, "PNG")
    return written.getvalue()


_held = threading.Event()  # never set: who is held waits until it is killed or has waited long enough


def answer(path: str) -> Answer:
    """Answer ``/image/…`` with a picture, ``/extra/…`` with a line, ``/late/…`` late, all else with a page.

    ``/hold/…`` is not answered while a crawl may still live.
    """
    kind, _, name = path.removeprefix("/").partition("/")
    if kind == "image":
        return Answer(200, {"Content-Type": "image/png"}, image(name))
    if kind == "extra":
        return Answer(200, {"Content-Type": "text/plain"}, f"more of {name}".encode())
    if kind == "late":
        time.sleep(LATE)
    if kind == "hold":
        _held.wait(_LONGEST_HOLD)
    return Answer(200, {**HTML, "X-Page": name}, html(name).encode())


@contextmanager
def hosts(number: int) -> Iterator[list[Served]]:
    """Serve the site at ``number`` addresses, each of which is a site of its own."""
    with ExitStack() as stack:
        yield [stack.enter_context(serving(answer)) for _ in range(number)]
