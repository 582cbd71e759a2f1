"""Real sites as a person sees them; DENOISE_SCREENSHOTS=FOLDER keeps the pictures to look at."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import GoldPage, read_gold
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.painted import painted_html
from denoise_crawler.page import Page
from denoise_crawler.report import Bounds, Plan, RunFigures, write_report
from tests.chromium import DESKTOP, PHONE, faults, opened, overflow, photograph

SITES = {"daniel": ("ifeng.com", "udn.com", "163.com"), "dragnet": ("webinknow.com", "poynter.org")}
CLEAR, FADED = "rgb(16, 32, 58)", "rgb(125, 131, 139)"


@pytest.fixture(scope="module")
def sites(corpus: Path) -> dict[str, list[GoldPage]]:
    """Eight pages of each of five sites."""
    found = {}
    for name, wanted in SITES.items():
        pages = list(read_gold(corpus, name))
        found |= {site: list(islice((one for one in pages if one.site == site), 8)) for site in wanted}
    return found


def test_painted_pages_of_real_sites_show_content_and_noise(
    sites: dict[str, list[GoldPage]], browser: Any, tmp_path: Path
) -> None:
    for site, golds in sites.items():
        denoiser = Denoiser("fusion")
        pages = [Page.parse(one.address, one.html) for one in golds]
        for page in pages:
            denoiser.learn(page)
        file = tmp_path / f"{site}.html"
        file.write_text(painted_html(pages[0], denoiser.judge(pages[0]), method="fusion"), "utf-8")
        with opened(browser, file.as_uri(), {"width": 1280, "height": 2400}) as shown:
            photograph(shown, f"painted-{site}")
            colours = shown.evaluate(
                "Array.from(document.querySelectorAll('[data-denoise]'), e => getComputedStyle(e).color)"
            )
        assert {CLEAR, FADED} <= set(colours), site


def test_the_report_of_real_sites_fits_a_desktop_and_a_phone(
    sites: dict[str, list[GoldPage]], browser: Any, tmp_path: Path
) -> None:
    triples = [(site, one.address, one.html) for site, golds in sites.items() for one in golds[:4]]
    plan = Plan(lambda: iter(triples), MethodChoice("fusion"), Bounds(pages=1))
    run = write_report(tmp_path, plan, RunFigures(["pages"], plan.choice.name, "now", "0"))
    folder = run.sites[0].folder
    names = {
        "sites": "index.html",
        "site": f"{folder}/index.html",
        "tree": f"{folder}/tree.html",
        "page": f"{folder}/page-001.html",
    }
    for name, file in names.items():
        for size in (DESKTOP, PHONE):
            with opened(browser, (tmp_path / file).as_uri(), size) as page:
                page.wait_for_timeout(300)
                photograph(page, f"report-{name}-{size['width']}")
                assert overflow(page) <= 0
                assert name != "page" or size == DESKTOP or faults(page) == []
