"""What is said of visible and kept characters is exact, wherever it is said and however the text is written."""

from __future__ import annotations

import doctest
import json
import re
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import given

from denoise_crawler import Writing
from denoise_crawler import denoiser as denoiser_module
from denoise_crawler.batch import Tally, clean_pages
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods import METHODS, Judgement, Method, MethodChoice
from denoise_crawler.output.clean_text import count_characters, noise_ratio
from denoise_crawler.output.extractors import EXTRACTORS
from denoise_crawler.output.painted import painted_html
from denoise_crawler.page import TEXT, Page
from denoise_crawler.report import Plan, RunFigures, write_report
from tests.loopback import HTML, Answer, nothing, serving
from tests.strategies import html_pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Project
    from tests.loopback import Served

URL = "https://a.example/story"
MENU = [f"Section {number} of the paper" for number in range(30)]
STORY = [f"Sentence {number} of the story, with\n  some   white space." for number in range(12)]
FORMS = {"text": Writing(), "Markdown": Writing(form="markdown")} | {
    name: Writing(extractor=name) for name in EXTRACTORS
}


def html(story: list[str] = STORY, menu: list[str] = MENU) -> str:
    links = "".join(f'<li><a href="/{number}">{words}</a></li>' for number, words in enumerate(menu))
    paragraphs = "".join(f"<p><b>{number}.</b> {words}</p>" for number, words in enumerate(story))
    return f"<html><body><div><ul>{links}</ul></div><article><h1>Head</h1>{paragraphs}</article></body></html>"


def letters(*texts: str) -> int:
    return sum(not letter.isspace() for text in texts for letter in text)


KEPT = letters("Head", *STORY, *(f"{number}." for number in range(len(STORY))))
VISIBLE = KEPT + letters(*MENU)


@pytest.mark.parametrize("writing", FORMS.values(), ids=FORMS)
def test_the_record_has_the_characters_of_the_page_whatever_its_text_looks_like(writing: Writing) -> None:
    cleaned = Denoiser("link_ratio", writing=writing).clean(Page.parse(URL, html()))
    assert (cleaned.visible, cleaned.kept) == (VISIBLE, KEPT)
    assert cleaned.noise_ratio == (VISIBLE - KEPT) / VISIBLE
    assert cleaned.clean_page.noise_ratio == round(cleaned.noise_ratio, 4)


def test_the_record_of_a_page_that_was_not_judged_keeps_all_its_text() -> None:
    page = Page.parse(URL, html())
    raw = Denoiser("link_ratio", writing=Writing(extractor="html_text")).raw(page)
    assert (raw.page, raw.judgement, raw.guarded) == (page, None, False)
    assert (raw.visible, raw.kept, raw.noise_ratio) == (VISIBLE, VISIBLE, 0.0)
    assert (raw.clean_page.method, raw.clean_page.warm, raw.clean_page.noise_ratio) == ("raw", False, 0.0)
    assert MENU[0] in raw.clean_page.text


def test_a_page_that_is_all_noise_counts_with_all_that_it_shows() -> None:
    page = Page.parse(URL, html())
    size = len(page.nodes)
    cleaned = Denoiser().write(page, Judgement([True] * size, [1.0] * size))
    assert (cleaned.visible, cleaned.kept, cleaned.noise_ratio) == (VISIBLE, 0, 1.0)
    assert (cleaned.clean_page.text, cleaned.clean_page.noise_ratio) == ("", 1.0)


def test_a_page_without_text_has_no_noise() -> None:
    cleaned = Denoiser().clean(Page.parse(URL, ""))
    assert (cleaned.visible, cleaned.kept, cleaned.noise_ratio) == (0, 0, 0.0)


def test_the_method_that_knows_the_layout_may_be_given() -> None:
    page, denoiser = Page.parse(URL, html()), Denoiser("fusion")
    knowing = Denoiser("fusion")
    for number in range(6):
        knowing.learn(Page.parse(f"{URL}/{number}", html([f"Words {number} {letter}" for letter in "abcdef"])))
    method = knowing.method_for(page.site)
    assert denoiser.clean(page, method=method).judgement != denoiser.clean(page).judgement
    given = denoiser.clean(page, method=method).judgement
    assert given is not None
    assert given.scores == knowing.judge(page).scores == denoiser.judge(page, method=method).scores


def test_the_example_of_the_record_says_what_comes_out() -> None:
    found = doctest.testmod(denoiser_module)
    assert found.attempted > 0
    assert found.failed == 0


@given(html=html_pages())
def test_visible_is_kept_and_noise_together(html: str) -> None:
    page = Page.parse(URL, html)
    judgement = Denoiser("link_ratio").judge(page)
    runs = [(text, gone) for text, gone in zip(page.nodes.texts, judgement.noise, strict=True)]
    visible, kept = count_characters(page, judgement.noise)
    assert visible == letters(*(text for text, _ in runs))
    assert kept == letters(*(text for text, gone in runs if not gone))
    assert count_characters(page, None) == (visible, visible)
    assert 0.0 <= noise_ratio(visible, kept) <= 1.0
    assert TEXT not in page.nodes.tags or letters(*page.nodes.texts) == visible


# --- who tells them


class LinksAreNoise(Method):
    name: ClassVar[str] = "links_are_noise"

    def judge(self, page: Page) -> Judgement:
        noise = [link >= 0 for link in page.nodes.links]
        return Judgement(noise, [float(gone) for gone in noise])


@pytest.fixture
def links_are_noise(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(METHODS, LinksAreNoise.name, LinksAreNoise)
    return LinksAreNoise.name


NEARLY_ALL_NOISE = html(story=[], menu=MENU * 40)  # "Head" is left: rounded to four digits, all of it is noise
PAGES = [(URL, html()), (f"{URL}/menu", NEARLY_ALL_NOISE), (f"{URL}/empty", "")]
ALL_VISIBLE = VISIBLE + letters("Head") + 40 * letters(*MENU)
ALL_KEPT = KEPT + letters("Head")


@pytest.mark.parametrize("writing", FORMS.values(), ids=FORMS)
def test_a_tally_has_the_exact_sums(writing: Writing, links_are_noise: str) -> None:
    tally = Tally()
    found = list(clean_pages(lambda: PAGES, links_are_noise, workers=1, writing=writing, tally=tally))
    assert (tally.characters_before, tally.characters_after) == (ALL_VISIBLE, ALL_KEPT)
    assert (found[0].visible, found[0].kept) == (VISIBLE, KEPT)


def test_a_tally_counts_pages_left_as_they_are_and_none_that_are_dropped() -> None:
    for short_sites, counted in (("raw", (ALL_VISIBLE, ALL_VISIBLE)), ("drop", (0, 0))):
        tally = Tally()
        options: Any = {"workers": 1, "warmup_pages": 9, "short_sites": short_sites, "tally": tally}
        list(clean_pages(lambda: PAGES, "fusion", **options))
        assert (tally.characters_before, tally.characters_after) == counted


def test_the_report_and_the_painted_page_have_the_same_figures(tmp_path: Path, links_are_noise: str) -> None:
    plan = Plan(lambda: (("a.example", *page) for page in PAGES), MethodChoice(links_are_noise))
    run = write_report(tmp_path, plan, RunFigures(["pages"], links_are_noise, "now", "0"))
    assert (run.sizes.visible, run.sizes.kept) == (ALL_VISIBLE, ALL_KEPT)
    first = run.sites[0].shown[0].sizes
    assert (first.visible, first.kept) == (VISIBLE, KEPT)
    page = Page.parse(URL, html())
    painted = painted_html(page, Denoiser(links_are_noise).judge(page))
    assert f"{(VISIBLE - KEPT) / VISIBLE:.0%} of {VISIBLE:,} visible characters removed" in painted


# --- in crawls: once a page, not once an item

SPIDER = """
import json

import scrapy


class Several(scrapy.Spider):
    name = "several"
    with_html = False

    async def start(self):
        for url in json.loads(open("urls.json").read()):
            yield scrapy.Request(url)

    def parse(self, response):
        for number in range(3):
            item = {"url": response.url, "number": number}
            yield item | {"html": response.text} if self.with_html else item
"""
ITEMS_A_PAGE = 3
CRAWLED = [html([f"{words} {page}" for words in STORY]) for page in range(8)]
CRAWLED_KEPT = 8 * (KEPT + len(STORY))
CRAWLED_VISIBLE = CRAWLED_KEPT + 8 * letters(*MENU)


@pytest.fixture
def site() -> Iterator[Served]:
    def answer(path: str) -> Answer:
        name = path.strip("/")
        return Answer(200, HTML, CRAWLED[int(name)].encode()) if name.isdigit() else nothing(path)

    with serving(answer) as served:
        yield served


@pytest.mark.parametrize(
    "settings",
    [
        {"DENOISE_METHOD": "link_ratio"},
        {"DENOISE_METHOD": "link_ratio", "DENOISE_FORM": "markdown"},
        {"DENOISE_METHOD": "link_ratio", "DENOISE_EXTRACTOR": "html_text"},
        {"DENOISE_METHOD": "fusion", "DENOISE_WARMUP_PAGES": "4"},  # three pages wait, and are replayed
    ],
    ids=["text", "Markdown", "extractor", "replayed"],
)
def test_a_crawl_counts_the_characters_of_a_page_once(
    project: Project, site: Served, settings: dict[str, str]
) -> None:
    project.write("test_spiders.py", SPIDER)
    project.write("urls.json", json.dumps([f"{site.url}/{number}" for number in range(8)]))
    given = [argument for name, value in settings.items() for argument in ("-s", f"{name}={value}")]
    items = project.crawl("several", *given, "-s", "CONCURRENT_REQUESTS=1")
    assert len(items) == project.stats["denoise/cleaned"] == 8 * ITEMS_A_PAGE
    assert project.stats["denoise/characters_before"] == CRAWLED_VISIBLE
    if settings["DENOISE_METHOD"] == "link_ratio":
        assert project.stats["denoise/characters_after"] == CRAWLED_KEPT
    else:
        texts = {item["url"]: re.sub(r"(?m)^ *- ", "", item["text"]) for item in items}
        assert project.stats["denoise/characters_after"] == letters(*texts.values())
