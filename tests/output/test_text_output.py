"""Plain text, its characters, the text of pages that are unsure."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import Writing, denoise_pages
from denoise_crawler.batch import BatchStats, clean_pages
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.errors import SettingError
from denoise_crawler.evaluation import tokens
from denoise_crawler.methods import METHODS, Judgement, Method, MethodChoice
from denoise_crawler.methods.base import inherit
from denoise_crawler.output.clean_text import clean_text, clean_texts, count_characters, noise_ratio
from denoise_crawler.output.extractors import EXTRACTORS
from denoise_crawler.output.painted import painted_html
from denoise_crawler.page import TEXT, Page
from denoise_crawler.report import Plan, RunFigures, write_report
from tests import roads
from tests.conftest import Project
from tests.loopback import HTML, Answer, Served, nothing, serving
from tests.strategies import html_pages

URL = "https://example.com/"


def text_of(html: str) -> str:
    return clean_text(Page.parse(URL, html))


def without(html: str, tag: str) -> str:
    """Return the text of a page on which all that stands right in elements called ``tag`` is noise."""
    page = Page.parse(URL, html)
    tags, parents = page.nodes.tags, page.nodes.parents
    return clean_text(page, [parent >= 0 and tags[parent] == tag for parent in parents])


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<h2>Tides<a href="#tides">¶</a></h2>', "Tides"),
        ('<h2>Tides <a class="hash-link" href="#tides">\u200b</a></h2>', "Tides"),
        ('<dl><dt>tide(x)<a class="headerlink" href="https://example.com/#tide">#</a></dt></dl>', "tide(x)"),
        ('<p>A note. <a href="#ref-1">↩</a></p>', "A note."),
        ('<li><a href="#cite_ref-1">^</a> A reference.', "- A reference."),
        ('<h3>Ports<a class="headerlink" href="#ports">\uf0c1</a></h3>', "Ports"),
        ('<p>Written in C<a href="/c-sharp">#</a> and F<a href="/f-sharp">#</a>.</p>', "Written in C# and F#."),
        ('<p>See <a href="#two">§ 2</a>.</p>', "See § 2."),
    ],
)
def test_the_sign_of_a_link_to_its_own_place_is_left_out_and_other_links_stay(html: str, text: str) -> None:
    assert text_of(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>T</h2><p>a  b\n c<p>d<br>e<blockquote>q</blockquote>f", "T\na b c\nd\ne\nq\nf"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul><ol><li>d</ol><p>e", "- a\n  - b\n- c\n- d\ne"),
        ("<ul><li><p>a<p>b</ul>", "- a\nb"),
        ("<ul><li></li><li> <img src=x></li></ul><p>a", "a"),
        ("<ul><li><ul><li>a</ul></ul>", "  - a"),
        ("<table><tr><th>k<th>v<tr><td>a <b>b</b><td>c<td></table>d", "k\tv\na b\tc\nd"),
        ("<table><tr><td>menu<td><p>one<p>two</table>", "menu\none\ntwo"),
        ("<pre>\n\nif x:\n    y  \n\n<b>z</b>\n</pre>a", "if x:\n    y\n\nz\na"),
        ("<pre><code><span>a</span>\n<span>  b</span><br>c<!-- x --></code></pre>", "a\n  b\nc"),
        ("<pre>a<div>b</div>c<script>x</script></pre>", "a\nb\nc"),
        ("<pre>a  b<p>c", "a b\nc"),
        ("<pre><ol class=linenums><li>if x:<li>  y</ol></pre>", "if x:\n  y"),
        ("<pre><span style='color:#080'>1</span> a\n<span style='color:#080'>2</span>  b</pre>", " a\n  b"),
        (
            "<pre><div class=code-block-header>sh Copy</div><code>ls\n  cd</code></pre><xmp>a\n <b></xmp>",
            "ls\n  cd\na\n <b>",
        ),
        ("<b>H</b>ello<wbr>x H<sub>2</sub>O 1<sup>st</sup> 10<sup>6</sup>", "Hellox H2O 1st 10^6"),
        ("<a href=1>one</a><a href=2>two</a> <a>x</a>y <a href=1>美</a><a href=2>国</a>", "one two xy 美国"),
        ("a<img src=x>b (<img src=x>)", "a b ()"),
        ("<ruby>漢<rt>kan</rt>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>", "漢(kan)字(ji)"),
    ],
)
def test_text_is_written_like_this(html: str, text: str) -> None:
    assert text_of(html) == text


def test_words_around_what_was_removed_are_not_glued() -> None:
    assert without("<p>one<i>x</i>two, three<i>y</i>.<p><i>z</i>four", "i") == "one two, three.\nfour"


def test_a_pre_with_noise_in_it_is_written_without_it() -> None:
    assert without("<pre>a\n<i>b</i>c</pre>", "i") == "a c"


@pytest.mark.parametrize("tag", ["div", "li", "td", "pre", "ruby", "ul><li", "table><tr><td"])
def test_deep_pages_are_written(tag: str) -> None:
    assert "deep" in text_of(f"<{tag}>a " * 3_000 + "deep")


@given(html_pages(), st.booleans())
def test_the_words_are_those_of_the_kept_text(html: str, drop: bool) -> None:
    page = Page.parse(URL, html)
    nodes = page.nodes
    noise = inherit([drop and parent >= 0 and nodes.tags[parent] == "b" for parent in nodes.parents], nodes.ends)
    kept = [text for text, is_noise in zip(nodes.texts, noise, strict=True) if not is_noise]
    text = clean_text(page, noise)
    lines = [line.lstrip(" ").removeprefix("- ") for line in text.splitlines()]
    assert "".join("".join(lines).split()) == "".join("".join(kept).split())
    if not any(noise) and not {"a", "img"} & set(nodes.tags):
        assert tokens(text) == tokens(_by_block(page))


def _by_block(page: Page) -> str:
    """Return the text with a space wherever an element that is no span or b begins or ends."""
    found, nodes = [], page.nodes
    ends: set[int] = set()
    for index, tag in enumerate(nodes.tags):
        if index in ends:
            found.append(" ")
        if tag not in (TEXT, "span", "b"):
            found.append(" ")
            ends.add(nodes.ends[index])
        found.append(nodes.texts[index])
    return "".join(found)


@given(html_pages())
def test_the_texts_of_parts_that_make_up_a_page_have_the_words_of_the_page(html: str) -> None:
    page = Page.parse("", html)
    parts = [range(index, page.nodes.ends[index]) for index in page.nodes.children(0)]
    words = " ".join(clean_texts(page, None, parts)).replace("- ", " ").split()
    assert "".join(words) == "".join(clean_text(page).replace("- ", " ").split())
    assert clean_texts(page, None, [range(len(page.nodes))]) == [clean_text(page)]


@pytest.mark.parametrize("mode", roads.ROADS)
def test_what_is_not_of_the_page_is_refused(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    roads.take(mode, monkeypatch)
    page = Page.parse("", "<p>A page.")
    with pytest.raises(ValueError, match="the judgement does not fit"):
        clean_text(page, [False])
    for part in (range(1, 10), range(-1, 2), range(2, 1)):
        with pytest.raises(ValueError, match="no such part"):
            clean_texts(page, None, [part])


CHARACTERS_URL = "https://a.example/story"
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
    cleaned = Denoiser("link_ratio", writing=writing).clean(Page.parse(CHARACTERS_URL, html()))
    assert (cleaned.visible, cleaned.kept) == (VISIBLE, KEPT)
    assert cleaned.clean_page.noise_ratio == round((VISIBLE - KEPT) / VISIBLE, 4)


def test_a_page_that_is_all_noise_counts_with_all_that_it_shows() -> None:
    page = Page.parse(CHARACTERS_URL, html())
    size = len(page.nodes)
    cleaned = Denoiser().write(page, Judgement([True] * size, [1.0] * size))
    assert (cleaned.visible, cleaned.kept) == (VISIBLE, 0)
    assert (cleaned.clean_page.text, cleaned.clean_page.noise_ratio) == ("", 1.0)


def test_a_page_without_text_has_no_noise() -> None:
    cleaned = Denoiser().clean(Page.parse(CHARACTERS_URL, ""))
    assert (cleaned.visible, cleaned.kept, cleaned.clean_page.noise_ratio) == (0, 0, 0.0)


def test_the_method_that_knows_the_layout_may_be_given() -> None:
    page, denoiser = Page.parse(CHARACTERS_URL, html()), Denoiser("fusion")
    knowing = Denoiser("fusion")
    for number in range(6):
        knowing.learn(
            Page.parse(f"{CHARACTERS_URL}/{number}", html([f"Words {number} {letter}" for letter in "abcdef"]))
        )
    method = knowing.method_for(page.site)
    assert denoiser.clean(page, method=method).judgement != denoiser.clean(page).judgement
    given = denoiser.clean(page, method=method).judgement
    assert given is not None
    assert given.scores == knowing.judge(page).scores == denoiser.judge(page, method=method).scores


@given(html=html_pages())
def test_visible_is_kept_and_noise_together(html: str) -> None:
    page = Page.parse(CHARACTERS_URL, html)
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
PAGES = [(CHARACTERS_URL, html()), (f"{CHARACTERS_URL}/menu", NEARLY_ALL_NOISE), (f"{CHARACTERS_URL}/empty", "")]
ALL_VISIBLE = VISIBLE + letters("Head") + 40 * letters(*MENU)
ALL_KEPT = KEPT + letters("Head")


def test_a_tally_counts_no_page_that_is_dropped() -> None:
    stats = BatchStats()
    options: Any = {"workers": 1, "warmup_pages": 9, "short_sites": "drop", "stats": stats}
    list(clean_pages(lambda: PAGES, "fusion", **options))
    assert (stats.characters_before, stats.characters_after) == (0, 0)


def test_the_report_and_the_painted_page_have_the_same_figures(tmp_path: Path, links_are_noise: str) -> None:
    plan = Plan(lambda: (("a.example", *page) for page in PAGES), MethodChoice(links_are_noise))
    run = write_report(tmp_path, plan, RunFigures(["pages"], links_are_noise, "now", "0"))
    assert (run.sizes.visible, run.sizes.kept) == (ALL_VISIBLE, ALL_KEPT)
    first = run.sites[0].shown[0].sizes
    assert (first.visible, first.kept) == (VISIBLE, KEPT)
    page = Page.parse(CHARACTERS_URL, html())
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
    project.spider(SPIDER, [f"{site.url}/{number}" for number in range(8)])
    given = [argument for name, value in settings.items() for argument in ("-s", f"{name}={value}")]
    items = project.crawl("several", *given, "-s", "CONCURRENT_REQUESTS=1")
    assert len(items) == project.stats["denoise/cleaned"] == 8 * ITEMS_A_PAGE
    assert project.stats["denoise/characters_before"] == CRAWLED_VISIBLE
    if settings["DENOISE_METHOD"] == "link_ratio":
        assert project.stats["denoise/characters_after"] == CRAWLED_KEPT
    else:
        texts = {item["url"]: re.sub(r"(?m)^ *- ", "", item["text"]) for item in items}
        assert project.stats["denoise/characters_after"] == letters(*texts.values())


UNSURE_STORY = (
    "<p>" + "The ferry ran aground on the sandbank off the point, and its passengers came ashore by night. " * 6
)
UNSURE_PAGES = [
    ("https://a.example/story", f"<h1>Ferry aground</h1>{UNSURE_STORY * 4}"),
    ("https://a.example/scraps", "".join(f"<div><a href=/{n}>Offer {n}</a> now {n}.99</div>" for n in range(40))),
]


def unsure(action: str, minimum: float = 0.85) -> Writing:
    return Writing(min_confidence=minimum, low_confidence=action)


def test_only_pages_below_are_marked_and_their_text_is_as_without() -> None:
    plain, marked = list(denoise_pages(UNSURE_PAGES)), list(denoise_pages(UNSURE_PAGES, writing=unsure("mark")))
    assert [one.low_confidence for one in plain] == [None, None]
    assert [one.low_confidence for one in marked] == [False, True]
    assert [one.text for one in marked] == [one.text for one in plain]
    for one in marked:
        assert one.confidence is not None
        assert one.low_confidence == (one.confidence < 0.85)


def test_a_method_that_cannot_tell_marks_nothing() -> None:
    cleaned = denoise_pages(UNSURE_PAGES, method="link_ratio", writing=unsure("drop", 1.0))
    assert [one.low_confidence for one in cleaned] == [None, None]


def test_dropped_pages_do_not_come_out_and_a_batch_counts_them() -> None:
    assert [one.url for one in denoise_pages(UNSURE_PAGES, writing=unsure("drop"))] == [UNSURE_PAGES[0][0]]
    stats = BatchStats()
    results = list(clean_pages(lambda: UNSURE_PAGES, workers=1, writing=unsure("drop"), stats=stats))
    assert [result.dropped for result in results] == [False, True]
    assert (stats.unsure, stats.dropped) == (1, 1)


@pytest.mark.parametrize(
    ("minimum", "action", "said"),
    [
        (1.5, "mark", "DENOISE_MIN_CONFIDENCE is 1.5: set it to a number from 0 to 1"),
        (float("nan"), "mark", "DENOISE_MIN_CONFIDENCE is nan"),
        (0.5, "marks", "DENOISE_LOW_CONFIDENCE is 'marks': set it to one of mark, drop"),
    ],
)
def test_wrong_values_are_refused_at_once(minimum: float, action: str, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        denoise_pages([], writing=unsure(action, minimum))
