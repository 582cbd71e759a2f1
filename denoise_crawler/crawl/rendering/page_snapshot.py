"""The page as a browser draws it, taken in one evaluation."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from playwright.async_api import TimeoutError as BrowserTimeout

from denoise_crawler.errors import RenderingError

if TYPE_CHECKING:
    from playwright.async_api import Page as BrowserPage

SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class PageSnapshot:
    """A rendered page: ``html`` with ``data-box`` and ``hidden`` attributes, and how many elements it counts.

    ``hidden`` counts the outermost elements that are not drawn.
    """

    html: str
    elements: int
    hidden: int


async def take_snapshot(page: BrowserPage, wait: float = 0.0, seconds: float = SECONDS) -> PageSnapshot:
    """Read ``page`` once its network is silent, or after ``wait`` seconds.

    Raises :class:`RenderingError` if the page's scripts leave no room for that within ``seconds``.
    """
    if wait > 0:
        with suppress(BrowserTimeout):
            await page.wait_for_load_state("networkidle", timeout=wait * 1000)
    try:
        found = await asyncio.wait_for(page.evaluate(_script()), seconds)
    except asyncio.TimeoutError:
        raise RenderingError(f"{page.url} keeps the browser busy: not read after {seconds:g} s") from None
    return PageSnapshot(found["html"], found["elements"], found["hidden"])


@cache
def _script() -> str:
    return resources.files(__package__).joinpath("page_snapshot.js").read_text("utf-8")
