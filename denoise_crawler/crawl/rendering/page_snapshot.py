"""A snapshot of a page as a browser shows it, taken in one evaluation."""

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

TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class PageSnapshot:
    """A rendered page.

    Attributes:
        html: The HTML with ``data-box`` and ``hidden`` attributes.
        elements: How many elements it has.
        hidden: How many outermost elements are not shown.
    """

    html: str
    elements: int
    hidden: int


async def take_snapshot(
    page: BrowserPage, wait_seconds: float = 0.0, timeout_seconds: float = TIMEOUT_SECONDS
) -> PageSnapshot:
    """Read a page.

    Args:
        page: The page in the browser.
        wait_seconds: How long to wait until its network is idle.
        timeout_seconds: How long the reading itself may take.

    Returns:
        The snapshot.

    Raises:
        RenderingError: The scripts of the page keep the browser busy for longer.
    """
    if wait_seconds > 0:
        with suppress(BrowserTimeout):
            await page.wait_for_load_state("networkidle", timeout=wait_seconds * 1000)
    try:
        found = await asyncio.wait_for(page.evaluate(_script()), timeout_seconds)
    except asyncio.TimeoutError:
        raise RenderingError(f"{page.url} keeps the browser busy: not read after {timeout_seconds:g} s") from None
    return PageSnapshot(found["html"], found["elements"], found["hidden"])


@cache
def _script() -> str:
    return resources.files(__package__).joinpath("page_snapshot.js").read_text("utf-8")
