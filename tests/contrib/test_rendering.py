from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.test import get_crawler

from denoise_crawler.contrib.rendering import Rendering
from denoise_crawler.errors import SettingError
from denoise_crawler.kernel.columns import PLACES
from denoise_crawler.methods.feature_tree.nodes import build_target
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.page import Page
from denoise_crawler.page.geometry import Box, drawn_boxes
from tests import chromium
from tests.conftest import Project
from tests.loopback import Answer, Served, serving

if TYPE_CHECKING:
    from denoise_crawler.contrib.rendering.middleware import PageSnapshot


CHROMIUM = chromium.program()
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or find_spec("scrapy_playwright") is None, reason="no Chromium, or no scrapy-playwright"
)
STORY = [
    f"Paragraph {number} tells how the ferry was late once more, and why nobody minded." for number in range(6)
]
REPORT = [
    f"Sentence {number} of the report explains what the harbour office decided on that day." for number in range(6)
]
SHELL = """<!DOCTYPE html><html><head><title>A story</title></head><body><div id=root></div>
<noscript><img src=/pixel.gif></noscript><script>
fetch('/story.json').then(answer => answer.json()).then(story => {
  document.getElementById('root').innerHTML = story.map(words => '<p>' + words + '</p>').join('');
});
fetch('http://localhost:9/secret').catch(() => document.body.title = 'not let through');
</script></body></html>"""
PLAIN = f"<html><body>{''.join(f'<p>{words}</p>' for words in REPORT)}<script src=/s.js></script></body></html>"
HTML_OF = {"/shell": SHELL, "/plain": PLAIN, "/story.json": json.dumps(STORY)}
SPIDER = """
import json
import scrapy


class PagesSpider(scrapy.Spider):
    name = "pages"

    async def start(self):
        for path in ("/plain", "/shell"):
            yield scrapy.Request(self.base + path)

    def parse(self, response):
        drawn = response.meta.get("denoise_page", {}).get("html")
        words = "".join(response.css("body ::text").getall())
        yield {"url": response.url, "read": response.text, "drawn": drawn, "words": words}
        if drawn:
            yield scrapy.Request(self.base + "/plain?again", self.parse_last, meta=response.meta)

    def parse_last(self, response):
        yield {"url": response.url, "drawn": response.meta.get("denoise_page", {}).get("html")}
"""


def answer(path: str) -> Answer:
    text = HTML_OF.get(path.partition("?")[0])
    kind = "application/json" if path.endswith("json") else "text/html"
    return Answer(200 if text else 404, {"Content-Type": kind}, (text or "").encode())


@pytest.fixture(scope="module")
def pages() -> Iterator[Served]:
    with serving(answer) as served:
        yield served


def run_crawl(folder: Path, pages: Served, settings: str, *arguments: str) -> Project:
    project = Project(folder)
    project.set_up(settings, SPIDER)
    project.crawl("pages", "-a", f"base={pages.url}", *arguments)
    return project


def item_of(project: Project, path: str) -> dict[str, Any]:
    return next(item for item in project.items() if item["url"].endswith(path))


# --- a page whose text comes only by JavaScript


def test_without_a_browser_such_a_page_is_empty_and_that_is_said_and_counted(
    tmp_path: Path, pages: Served
) -> None:
    project = run_crawl(
        tmp_path,
        pages,
        'ADDONS = {"denoise_crawler.Addon": 300}\n'
        'SPIDER_MIDDLEWARES = {"denoise_crawler.crawl.middleware.ScriptPagesMiddleware": 90}\n',
    )
    assert item_of(project, "/shell")["text"] == ""
    assert item_of(project, "/plain")["text"].splitlines() == REPORT
    assert project.stats["denoise/script_pages"] == 1
    assert "/shell has scripts and hardly any text: only a browser could build it" in project.log


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory, pages: Served) -> Project:
    """A crawl that renders the pages that need it."""
    if CHROMIUM is None or find_spec("scrapy_playwright") is None:
        pytest.skip("no Chromium, or no scrapy-playwright")
    pages.asked.clear()
    addons = (
        'ADDONS = {"denoise_crawler.Addon": 300, "denoise_crawler.contrib.rendering.Rendering": 320}\n'
        "DENOISE_WARMUP_PAGES = 0\n"
    )
    return run_crawl(tmp_path_factory.mktemp("rendered"), pages, addons, "-s", "CONCURRENT_REQUESTS=1")


def test_in_a_browser_it_has_all_its_text(rendered: Project) -> None:
    assert item_of(rendered, "/shell")["text"].splitlines() == STORY


def test_only_pages_that_need_it_are_rendered(rendered: Project, pages: Served) -> None:
    assert rendered.stats["denoise/rendering/asked_again"] == 1
    assert "denoise/rendering/empty" not in rendered.stats
    assert pages.asked.count("/shell") == 2
    assert item_of(rendered, "/plain")["drawn"] is None


def test_what_is_drawn_is_not_in_the_page_that_the_spider_reads(rendered: Project) -> None:
    item = item_of(rendered, "/shell")
    assert "data-box" in item["drawn"]
    assert "data-box" not in item["read"]
    assert STORY[0] in item["words"]


def test_a_request_that_a_spider_makes_with_the_meta_of_a_rendered_page_has_a_page_of_its_own(
    rendered: Project,
) -> None:
    assert "s.js" in item_of(rendered, "?again")["drawn"]


def test_a_page_reaches_no_other_port_of_this_machine(rendered: Project) -> None:
    assert "not let through" in item_of(rendered, "/shell")["drawn"]
    assert "Aborted Playwright request <GET http://localhost:9/secret>" in rendered.log


def test_feature_tree_gets_the_geometry_of_the_rendered_page(rendered: Project) -> None:
    item = item_of(rendered, "/shell")
    page = Page.parse(item["url"], item["drawn"])
    boxes = [box for box, tag in zip(drawn_boxes(page), page.nodes.tags, strict=True) if tag == "p"]
    tops = [box.top for box in boxes if box is not None]
    assert len(tops) == len(STORY)
    assert tops == sorted(tops)
    assert build_target(page).measures.boxes is not None
    assert build_target(Page.parse(item["url"], item["read"])).measures.boxes is None


# --- what a browser draws


def take_snapshots(*pages: str, seconds: float = 20.0) -> list[PageSnapshot]:
    from playwright.async_api import async_playwright

    from denoise_crawler.contrib.rendering.middleware import take_snapshot

    async def in_browser() -> list[PageSnapshot]:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM)
            found = []
            for html in pages:
                page = await browser.new_page(viewport={"width": 800, "height": 600})
                await page.set_content(html)
                found.append(await take_snapshot(page, timeout_seconds=seconds))
            await browser.close()
            return found

    return asyncio.run(in_browser())


@pytest.fixture(scope="module")
def snapshots() -> list[PageSnapshot]:
    if CHROMIUM is None or find_spec("scrapy_playwright") is None:
        pytest.skip("no Chromium, or no scrapy-playwright")
    return take_snapshots(
        """<!DOCTYPE html><style>.gone{display:none}.veil{visibility:hidden}body{margin:0}p{margin:0}</style>
        <body data-box="9 9 9 9"><div class=gone><p>Wall of <b>cookies</b></p></div>
        <div class=veil>veiled <i style="visibility:visible">seen</i></div><div class=veil><p>unseen</p></div>
        <p hidden style="display:block">said to be hidden</p>
        <div style="position:absolute;left:100px;top:200px;width:300px;height:40px">placed</div>""",
        """<x-card id=c>slotted <b>words</b></x-card><script>
        customElements.define('x-card', class extends HTMLElement {
          connectedCallback() {
            this.attachShadow({mode: 'open'}).innerHTML =
              '<style>p{color:red}</style><p>first <slot></slot> last</p><slot name=none>fallback</slot>';
          }
        });</script><template><p>never</p></template><noscript>no scripts</noscript>""",
        "<body>" + "<div>" * 3000 + "deep" + "</div>" * 3000 + "<p>wide</p>" * 3000,
    )


def elements(page: PageSnapshot) -> dict[str, dict[str, str]]:
    """The attributes of the elements of the drawn page, by their own text."""
    root = Page.parse("https://example.com/", page.html).root
    assert root is not None
    return {(element.text or "").strip(): dict(element.attrib) for element in root.iter("p", "div", "i")}


def test_what_is_not_drawn_is_hidden_and_what_is_drawn_is_not(snapshots: list[PageSnapshot]) -> None:
    found = elements(snapshots[0])
    root = Page.parse("https://example.com/", snapshots[0].html).root
    assert root is not None
    assert [element.get("class") for element in root.iter() if "hidden" in element.attrib] == ["gone", "veil"]
    assert "hidden" not in found["veiled"]  # a part of it is seen
    assert "hidden" not in found["said to be hidden"]
    assert snapshots[0].hidden == 2


def test_hidden_elements_are_evidence_for_fusion(snapshots: list[PageSnapshot]) -> None:
    blocks = blocks_of(Page.parse("https://example.com/", snapshots[0].html))
    bit = 1 << PLACES.index("hidden")
    hidden = {
        text: bool(places & bit)
        for text, places in zip(blocks.texts, blocks.around.places[blocks.elements], strict=True)
    }
    assert hidden["Wall of cookies"]
    assert hidden["unseen"]
    assert not hidden["veiled seen"]
    assert not hidden["said to be hidden"]


def test_boxes_are_measured_from_the_corner_of_the_page(snapshots: list[PageSnapshot]) -> None:
    page = Page.parse("https://example.com/", snapshots[0].html)
    placed = page.nodes.texts.index("placed") - 1
    assert drawn_boxes(page)[placed] == Box(100, 200, 300, 40)
    assert snapshots[0].html.count("9 9 9 9") == 0


def test_what_stands_in_open_shadow_roots_stands_in_the_page_as_it_is_read(snapshots: list[PageSnapshot]) -> None:
    page = Page.parse("https://example.com/", snapshots[1].html)
    assert " ".join(" ".join(page.nodes.texts).split()) == "first slotted words last fallback"


def test_deep_and_wide_pages_are_read_whole(snapshots: list[PageSnapshot]) -> None:
    assert "deep" in snapshots[2].html
    assert snapshots[2].html.count("wide") == 3000


@needs_browser
def test_a_page_that_keeps_the_browser_busy_is_given_up() -> None:
    from denoise_crawler.errors import RenderingError

    with pytest.raises(RenderingError, match="keeps the browser busy: not read after 1 s"):
        take_snapshots("<p>words<script>setTimeout(() => { while (true); }, 0)</script>", seconds=1.0)


# --- settings


@needs_browser
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("DENOISE_RENDER", "often", "set it to one of needed, always, asked"),
        ("DENOISE_RENDER_WAIT", "long", "set it to a number of seconds, 0 to 600"),
        ("DENOISE_RENDER_WAIT", float("nan"), "set it to a number of seconds, 0 to 600"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_set(name: str, value: object, message: str) -> None:
    from denoise_crawler.contrib.rendering.middleware import RenderingMiddleware

    with pytest.raises(SettingError, match=f"{name} is .*[:,] {message}"):
        RenderingMiddleware.from_crawler(get_crawler(settings_dict={name: value}))


@needs_browser
def test_what_the_project_sets_of_scrapy_playwright_wins() -> None:
    from scrapy.settings import Settings

    own = {"DOWNLOAD_HANDLERS": {"https": "mine.Handler"}, "PLAYWRIGHT_LAUNCH_OPTIONS": {"timeout": 1}}
    settings = Settings(own, priority="project")
    Rendering(get_crawler()).update_settings(settings)
    assert settings.getdict("DOWNLOAD_HANDLERS")["https"] == "mine.Handler"
    assert "scrapy_playwright" in settings.getdict("DOWNLOAD_HANDLERS")["http"]
    assert settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS") == {"timeout": 1}
