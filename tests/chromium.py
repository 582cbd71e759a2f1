"""The system's Chromium, driven by Playwright, with axe; tests that want them skip where they are missing."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
_OPTIONS = (
    *["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    *["--disable-component-update", "--disable-sync"],
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",  # nothing leaves the machine
)


def program() -> str | None:
    """Return the path of Chromium or Chrome, None where the PATH has neither."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def running() -> Iterator[Any]:
    """Give a running browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if (found := program()) is None:
        pytest.skip("no Chromium or Chrome is installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=_OPTIONS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, address: str, size: dict[str, int] = DESKTOP, scheme: str = "light") -> Iterator[Any]:
    """Give a page of the browser at an address; no script of it may raise."""
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page, raised = context.new_page(), []
    page.on("pageerror", lambda error: raised.append(error))
    page.goto(address)
    yield page
    assert not raised
    context.close()


def faults(page: Any) -> list[str]:
    """Return what axe finds wrong with a page, not looking into the frames of untrusted pages."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    found = axe.run(page, options={"iframes": False}).response["violations"]
    return [f"{fault['impact']}: {fault['id']}, {fault['nodes'][0]['html'][:200]}" for fault in found]


def overflow(page: Any) -> int:
    """Return by how many pixels a page is wider than its window."""
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width


def photograph(page: Any, name: str) -> bytes:
    """Return a screenshot of a page as a PNG; keep it as ``name``.png where DENOISE_SCREENSHOTS names a folder."""
    picture: bytes = page.screenshot()
    if folder := os.environ.get("DENOISE_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.png").write_bytes(picture)
    return picture


def photograph_for_docs(page: Any, name: str) -> None:
    """Take a picture of the documentation: with DENOISE_WRITE_DOCS it replaces the one that is there."""
    picture = photograph(page, name)
    if os.environ.get("DENOISE_WRITE_DOCS"):
        (Path(__file__).parent.parent / "docs" / f"{name}.png").write_bytes(picture)
