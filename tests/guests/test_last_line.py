"""The line for people at the end of a crawl says what became of its items, in every mode."""

import signal
from pathlib import Path

import pytest

from tests.guests.guest_project import ADDON, MODES, SPIDER, Guest, signal_after
from tests.guests.site import answer as page
from tests.loopback import Answer, Served

FILLED, OWN, NO_PAGE = 16, 5, 3
YIELDS = """
        kind = response.url.split("/")[-2]
        item = {"url": response.url, "text": "" if kind == "page" else "mine"}
        if kind != "json":
            item["html"] = response.text
        yield item
"""
POLITE = """
ADDONS["denoise_crawler.Politeness"] = 310
DENOISE_DELAY_MIN, DENOISE_DELAY_MAX, DENOISE_WARMUP_PAGES = 0, 1, 500
"""
LAST = "denoise_crawler.crawl.report] INFO: "


def answer(path: str) -> Answer:
    if path.startswith("/json/"):
        return Answer(200, {"Content-Type": "application/json"}, b"{}")
    if path.startswith("/app/"):
        return Answer(
            200, {"Content-Type": "text/html"}, b"<title>App</title><div id=app></div><script src=a.js></script>"
        )
    return Answer(200, {"Content-Type": "text/html"}, b"") if path.startswith("/empty/") else page(path)


def guest(folder: Path, us: str, settings: str = "") -> Guest:
    spider = SPIDER.replace('yield {"url": response.url, "text": ""}', YIELDS)
    return Guest(folder, us, spider=spider, settings=settings)


def urls(served: Served) -> list[str]:
    kinds = {"page": FILLED, "own": OWN, "json": NO_PAGE}
    return [f"{served.url}/{kind}/{kind}-{number}" for kind, many in kinds.items() for number in range(many)]


def last_line(crawl: Guest) -> str:
    """Return the line for people; there is one."""
    [line] = [
        line.partition(LAST)[2]
        for line in crawl.log.splitlines()
        if LAST in line and ", " in line and " with text" in line
    ]
    return line


def removed(crawl: Guest) -> str:
    before, after = (crawl.stats[f"denoise/characters_{when}"] for when in ("before", "after"))
    assert 0 < after < before
    return f"{1 - after / before:.0%} noise removed"


@pytest.mark.parametrize("quota", [6, 500], ids=["a known site", "a short site"])
@pytest.mark.parametrize("mode", MODES)
def test_what_waited_and_what_did_not_are_told_alike(
    mode: str, quota: int, served: Served, tmp_path: Path
) -> None:
    crawl = guest(tmp_path, MODES[mode], f"DENOISE_WARMUP_PAGES = {quota}\n")
    told = []
    for _ in range(2):  # where the quota is reached nothing waits the second time
        assert len(crawl.run(urls(served))) == FILLED + OWN + NO_PAGE
        told.append(last_line(crawl))
        early = "; 1 site went on before enough was known" if quota == 500 else ""
        assert told[-1] == f"24 items, 24 with text, {removed(crawl)}; 8 kept their own text; 3 had no page{early}"
    assert ("denoise/parked" in crawl.stats) == (quota == 500)


@pytest.mark.parametrize("mode", MODES)
def test_items_that_a_policy_dropped_are_no_items_but_are_told(mode: str, served: Served, tmp_path: Path) -> None:
    crawl = guest(tmp_path, MODES[mode], 'DENOISE_WARMUP_PAGES = 500\nDENOISE_SHORT_SITES = "drop"\n')
    assert len(crawl.run(urls(served))) == OWN + NO_PAGE
    assert last_line(crawl) == (
        "8 items, 8 with text; 8 kept their own text; 3 had no page; "
        "16 were dropped, as too little was known of their site"
    )


def test_items_without_text_are_told_by_what_they_lack(served: Served, tmp_path: Path) -> None:
    crawl = guest(tmp_path, ADDON)
    crawl.write(
        "test_spiders.py",
        SPIDER.replace(
            'yield {"url": response.url, "text": ""}',
            """
        if "empty" in response.url or "json" in response.url:
            yield {"url": response.url}
        else:
            yield Bare(url=response.url)
            yield {"url": response.url}
""",
        )
        + "\n\nclass Bare(scrapy.Item):\n    url = scrapy.Field()\n",
    )
    crawl.run([f"{served.url}/{path}" for path in ("page/1", "empty/1", "empty/2", "json/1")])
    assert last_line(crawl) == (
        f"5 items, 1 with text, {removed(crawl)}; 1 had no page; 2 were of pages with nothing to read; "
        "1 have no field for the text; 1 site went on before enough was known"
    )


def test_pages_that_scripts_build_are_a_warning_that_names_what_renders_them(
    served: Served, tmp_path: Path
) -> None:
    crawl = guest(tmp_path, ADDON)
    crawl.run([f"{served.url}/app/page/{number}" for number in range(8)])
    [line] = [line for line in crawl.log.splitlines() if "8 items, 0 with text" in line]
    assert "WARNING" in line
    assert "8 pages need a browser (add denoise_crawler.contrib.rendering.Rendering to ADDONS)" in line


def test_a_polite_crawl_tells_at_its_start_how_long_it_is_silent(served: Served, tmp_path: Path) -> None:
    crawl = guest(tmp_path, ADDON, POLITE)
    crawl.run([f"{served.url}/page/1"])
    [line] = [line for line in crawl.log.splitlines() if "s between two pages of a host" in line]
    assert line.endswith(
        "0 to 1 s between two pages of a host (DENOISE_DELAY_MIN, DENOISE_DELAY_MAX); "
        "500 pages until a new site is known: about 4 minutes, while its items wait"
    )


def test_one_item_is_no_items(served: Served, tmp_path: Path) -> None:
    crawl = guest(tmp_path, ADDON)
    crawl.run([f"{served.url}/page/1"])
    assert last_line(crawl).startswith("1 item, 1 with text, ")


def test_after_ctrl_c_the_line_is_of_the_items_that_came_out(served: Served, tmp_path: Path) -> None:
    crawl = guest(tmp_path, ADDON, "DENOISE_WARMUP_PAGES = 500\nCONCURRENT_REQUESTS = 1\nDOWNLOAD_DELAY = 0.1\n")
    items = crawl.run(urls(served), *signal_after(4, signal.SIGINT))
    assert 4 <= len(items) < FILLED
    assert last_line(crawl) == (
        f"{len(items)} items, {len(items)} with text, {removed(crawl)}; 1 site went on before enough was known"
    )
