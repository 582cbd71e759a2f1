from pathlib import Path
from typing import Any

import pytest

from denoise_crawler.methods import MethodChoice
from denoise_crawler.report import Bounds, Plan, RunFigures, write_report
from tests.attacks import attack
from tests.chromium import DESKTOP, PHONE, faults, opened, overflow
from tests.loopback import nothing, serving
from tests.report.test_report import SITE, demo_pages

NAMES = ("index.html", "site/index.html", "site/tree.html", "site/page-001.html")


def written(folder: Path, pages: list[tuple[str, str]], *, remote: bool = False) -> Path:
    """Write a report of one site; return its folder, the site's own being named ``site``."""
    sited = [(SITE, url, html) for url, html in pages]
    plan = Plan(lambda: iter(sited), MethodChoice("style_tree"), Bounds(pages=3), remote=remote)
    run = write_report(folder, plan, RunFigures(["pages"], plan.choice.name, "now", "0"))
    (folder / "site").symlink_to(folder / run.sites[0].folder)
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("report"), demo_pages(8))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_every_page_of_the_report_is_accessible_and_fits_its_window(
    browser: Any, report: Path, name: str, size: dict[str, int], scheme: str
) -> None:
    with opened(browser, (report / name).as_uri(), size, scheme) as page:
        assert faults(page) == []
        assert overflow(page) <= 0


def test_pointing_at_a_part_of_the_painted_page_tells_why(browser: Any, report: Path) -> None:
    with opened(browser, (report / "site/page-001.html").as_uri()) as page:
        painted = page.frame_locator("#frame")
        painted.locator("h1").first.hover()
        page.wait_for_selector("#why .reason")
        assert "kept" in page.inner_text("#why .sign")
        assert page.inner_text("#why .reason")
        painted.locator("nav a").first.click()
        page.wait_for_selector("#why.noise .reason")
        assert painted.locator("nav a").count()  # the link led nowhere


def test_choosing_a_block_by_keyboard_shows_where_it_stands(browser: Any, report: Path) -> None:
    with opened(browser, (report / "site/page-001.html").as_uri()) as page:
        page.frame_locator("#frame").locator("h1").wait_for()
        block = page.locator("#block-list .kept button").first
        block.focus()
        page.keyboard.press("Enter")
        assert page.inner_text("#why .said") == block.locator(".said").inner_text()
        assert page.frame_locator("#frame").locator("[data-denoise-chosen]").count() == 1
        page.select_option("#only", "noise")
        assert page.locator("#block-list .kept:visible").count() == 0


_COLOUR = "element => getComputedStyle(element).color"


def test_the_original_is_a_switch_that_takes_the_paint_off_the_same_page(browser: Any, report: Path) -> None:
    with opened(browser, (report / "site/page-001.html").as_uri()) as page:
        link = page.frame_locator("#frame").locator("nav a").first
        link.wait_for()
        painted = link.evaluate(_COLOUR)
        at = page.frames[1].evaluate("scrollY")
        page.click("[data-pane=original]")
        assert link.evaluate(_COLOUR) != painted
        assert page.frames[1].evaluate("scrollY") == at
        page.click("[data-pane=painted]")
        assert link.evaluate(_COLOUR) == painted
        assert len(page.frames) == 2


def test_a_page_opens_at_the_first_block_that_is_kept(browser: Any, tmp_path: Path) -> None:
    menu = "".join(f"<li><a href=/{number}>Entry {number}</a></li>" for number in range(400))
    story = "<p>" + "The council met and voted for the bridge, after a long debate about its cost. " * 5 + "</p>"
    html = f"<nav><ul>{menu}</ul></nav><article><h1>The bridge</h1>{story}</article>"
    folder = written(tmp_path, [(f"https://{SITE}/{number}", html) for number in range(2)])
    with opened(browser, (folder / "site/page-001.html").as_uri()) as page:
        first = page.frame_locator("#frame").locator("article p")
        page.wait_for_timeout(300)
        top = first.evaluate("element => element.getBoundingClientRect().top")
        assert 0 <= top < page.frames[1].evaluate("innerHeight")


def test_one_pane_at_a_time_is_shown_on_a_phone(browser: Any, report: Path) -> None:
    with opened(browser, (report / "site/page-001.html").as_uri(), PHONE) as page:
        assert [page.is_visible(f".pane.{name}") for name in ("page-pane", "text")] == [True, False]
        page.click("[data-pane=text]")
        assert [page.is_visible(f".pane.{name}") for name in ("page-pane", "text")] == [False, True]


def test_on_a_phone_the_bar_of_reasons_covers_the_page_only_when_it_has_one(browser: Any, report: Path) -> None:
    with opened(browser, (report / "site/page-001.html").as_uri(), PHONE) as page:
        frame, bar = (page.locator(name).bounding_box() for name in ("#frame", "#why"))
        assert bar["y"] >= frame["y"] + frame["height"]
        page.locator(".blocks button").first.press("Enter")
        page.wait_for_selector("#why .reason")
        assert page.locator("#why").evaluate("bar => getComputedStyle(bar).position") == "sticky"


def test_the_tree_is_searched_and_walked_by_keyboard(browser: Any, report: Path) -> None:
    with opened(browser, (report / "site/tree.html").as_uri()) as page:
        page.fill("#query", "ferry treaty ends")
        page.keyboard.press("Enter")
        page.wait_for_selector("#about dl")
        assert "Ferry treaty ends nine-year dispute" in page.inner_text("#about")
        assert page.inner_text("#found").startswith("1 of ")
        chosen = page.locator("[aria-selected=true]")
        before = chosen.get_attribute("data-node")
        chosen.focus()
        page.keyboard.press("ArrowLeft")
        assert chosen.get_attribute("data-node") != before
        page.keyboard.press("ArrowLeft")
        assert chosen.get_attribute("aria-expanded") in ("false", "true")
        page.keyboard.press("Home")
        assert chosen.get_attribute("aria-level") == "1"
        page.keyboard.press("ArrowLeft")
        assert page.locator("[role=treeitem]:visible").count() == 1


# What an item's address may hold; its title is the page's own, which breaks out likewise.
BREAKS_OUT = "\"'></title></script><script>top.hacked=1</script><img src=x onerror=top.hacked=1>"


def visit(page: Any) -> None:
    """Do what a reader would: wait, point, click, submit."""
    page.wait_for_timeout(400)
    for selector in ("h1", "#link", "#js", "#send"):
        target = page.frame_locator("#frame").locator(selector)
        if target.count():
            target.first.hover(force=True)
            target.first.click(force=True, timeout=2000)
    page.wait_for_timeout(200)


def test_a_page_full_of_attacks_runs_no_script_and_sends_no_request(browser: Any, tmp_path: Path) -> None:
    with serving(nothing) as (server, asked):
        pages = [(f"https://evil.example/{number}{BREAKS_OUT}", attack(server)) for number in range(3)]
        folder = written(tmp_path, pages)
        for name in NAMES:
            with opened(browser, (folder / name).as_uri()) as page:
                at = page.url
                if "page-" in name:
                    visit(page)
                assert page.evaluate("typeof hacked") == "undefined"
                assert all(frame.evaluate("typeof hacked") == "undefined" for frame in page.frames)
                assert page.url == at
                assert len(page.context.pages) == 1
        assert asked == []


def test_with_remote_pictures_and_sheets_are_fetched_and_nothing_runs(browser: Any, tmp_path: Path) -> None:
    with serving(nothing) as (server, asked):
        folder = written(tmp_path, [("https://evil.example/", attack(server))] * 2, remote=True)
        with opened(browser, (folder / "site/page-001.html").as_uri()) as page:
            visit(page)
            assert all(frame.evaluate("typeof hacked") == "undefined" for frame in page.frames)
        assert {"/sheet", "/image"} <= set(asked)
        never = {
            *("script", "external", "frame", "object", "embed", "refresh", "form", "link", "svg-use", "prefetch"),
        }
        assert not never.intersection(path.strip("/") for path in asked)
