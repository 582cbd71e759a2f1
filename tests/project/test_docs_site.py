"""The documentation as a site, opened from disk in a browser."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.chromium import DESKTOP, PHONE, faults, opened, overflow, photograph, running
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = [page.stem for page in sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with running() as found:
        yield found


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_search_finds_a_word_from_disk(site: Path, browser: Any, size: dict[str, int]) -> None:
    with opened(browser, (site / "index.html").as_uri(), size) as page:
        if size == PHONE:
            page.locator("label[for=__search]").first.click()
        page.locator("input.md-search__input").click()
        page.keyboard.type("frameset")
        result = page.locator(".md-search-result__item a").first
        result.wait_for(timeout=20_000)
        photograph(page, f"docs-search-{size['width']}")
        assert "frameset" in page.locator(".md-search-result__list").inner_text().lower()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_and_fits_a_desktop_and_a_phone(site: Path, browser: Any, name: str) -> None:
    for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
        with opened(browser, (site / f"{name}.html").as_uri(), size, scheme) as page:
            page.wait_for_timeout(300)
            photograph(page, f"docs-{name}-{size['width']}")
            assert faults(page) == []
            assert overflow(page) <= 0
