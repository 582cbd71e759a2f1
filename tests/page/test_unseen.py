"""What nobody sees: hidden elements, dialogs that ask for consent, places without size."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from denoise_crawler.page.geometry import Box, Length, declared_length, drawn_boxes, parse_length
from denoise_crawler.page.unseen import hiding_selectors, is_hiding, unseen_of
from tests import roads
from tests.article_spider import SPIDER
from tests.conftest import Project
from tests.loopback import HTML, Answer, serving
from tests.strategies import html_pages


def seen(html: str) -> tuple[list[str], list[str]]:
    """Return the texts that are hidden, and those in panels."""
    page = Page.parse("https://a.example/1", f"<p>Seen</p>{html}")
    unseen = page.once(unseen_of)
    if unseen is None:
        return [], []
    texts = page.nodes.texts
    hidden, panel = ([text for text, one in zip(texts, bits, strict=True) if one and text] for bits in unseen)
    return hidden, panel


@pytest.mark.parametrize(
    "attributes",
    [
        "hidden", "style='color:red; display : none'", "style=visibility:hidden", "class='a sr-only'",
        "style='position:absolute; left:-9999px'", "style='height:0; overflow:hidden'", "style='DISPLAY:NONE'",
        "style='position:absolute;clip:rect(0,0,0,0)'", "class=w-condition-invisible",
    ],
)  # fmt: skip
def test_what_attributes_hide_is_hidden(attributes: str) -> None:
    assert seen(f"<div {attributes}>Spam</div>") == (["Spam"], [])


@pytest.mark.parametrize(
    "attributes",
    [
        "aria-hidden=true",
        "style='height:0'",
        "style='left:-1px'",
        "style='position:relative;overflow:hidden'",
        "class=x",
    ],
)
def test_what_is_seen_is_not_hidden(attributes: str) -> None:
    assert seen(f"<div {attributes}>Seen too</div>") == ([], [])


@pytest.mark.parametrize("attributes", ["class='a b'", "id=c", "class=d"])
def test_what_the_page_s_own_sheet_hides_is_hidden(attributes: str) -> None:
    sheet = (
        "/* .x { */ .a{display:none} #c { position: fixed; top: -2000px } @media print{.e{display:none}}"
        "div.d{clip:rect(0 0 0 0)}"
    )
    assert seen(f"<style>{sheet}</style><div {attributes}>Spam</div><p class='d e'>Seen too") == (["Spam"], [])


@pytest.mark.parametrize(
    "html",
    [
        "<details><summary>Opens</summary></details>",
        "<div role=tabpanel hidden>Opens</div>",
        "<div hidden=until-found>Opens</div>",
        "<div><button aria-expanded=false aria-controls=x></button></div><div id=x style=display:none>Opens</div>",
        "<section><h3><a aria-expanded=false href=#y></a></h3><div hidden>Opens</div></section>",
        "<div class=accordion-body style=display:none>Opens</div>",
        "<style>.p{display:none}.p.open{display:block}</style><div class=p>Opens</div>",
        "<style>.p{display:none}@media (min-width:9em){.p{display:block}}</style><div class=p>Opens</div>",
    ],
)
def test_what_opens_is_in_a_panel_and_not_hidden(html: str) -> None:
    assert seen(html) == ([], ["Opens"])


def test_a_class_that_a_later_rule_shows_is_not_hidden() -> None:
    assert dict(hiding_selectors([".a{display:none}.a{display:block}", ".b{display:block}.b{display:none}"])) == {
        ".b": "hides"
    }


def test_sheets_for_print_and_for_browsers_without_scripts_hide_nothing() -> None:
    sheets = "<style media=print>.a{display:none}</style><noscript><style>.a{display:none}</style></noscript>"
    assert seen(f"{sheets}<p class=a>Seen too") == ([], [])


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("{}/*@;:.#ad-9 hidden,none"), max_size=200))
def test_no_sheet_and_no_style_raises(sheet: str) -> None:
    hiding_selectors([sheet, ".a{display:none}" + sheet])
    is_hiding(sheet)


@pytest.mark.parametrize("part", ["/*", "{", "}", ".a{", ".a{display:none}", "display:", ".a,"])
def test_a_long_sheet_is_read_in_linear_time(part: str) -> None:
    hiding_selectors([part * 200_000])


@roads.is_built
@settings(max_examples=50, deadline=None)
@given(html_pages(40))
def test_the_same_is_found_without_the_compiled_core(html: str) -> None:
    found = []
    for mode in roads.ROADS:
        with pytest.MonkeyPatch.context() as patch:
            roads.take(mode, patch)
            found.append(seen(f"<style>.a{{display:none}}</style>{html}<i style=display:none class=a>x</i>"))
    assert found[0] == found[1]


ASKS = (
    "<h1>We value your privacy</h1><p>We and our 842 partners store and access information on your device, as "
    "cookies, to show you personal advertisements.</p><button>Accept all</button><button>Manage</button>"
)
FRAME = "<header><a href='/'>Home</a><a href='/news'>News</a></header>{}<footer>© The Ledger</footer>"
STORY = (
    "<article><h1>A bridge</h1><p>" + "The council voted for the bridge over the river. " * 12 + "</p></article>"
)
DIALOGS = {
    "onetrust": f'<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" role="dialog">{ASKS}</div></div>',
    "didomi": f'<div id="didomi-host"><div class="didomi-popup-container">{ASKS}</div></div>',
    "sourcepoint": f'<div id="sp_message_container_812345">{ASKS}</div>',
    "quantcast": f'<div class="qc-cmp2-container" id="qc-cmp2-container"><div>{ASKS}</div></div>',
    "cookiebot": f'<div id="CybotCookiebotDialog" role="dialog">{ASKS}</div>',
    "usercentrics": f'<div id="usercentrics-root"><div class="uc-banner">{ASKS}</div></div>',
    "trustarc": f'<div id="truste-consent-track"><div id="truste-consent-content">{ASKS}</div></div>',
    "funding choices": f'<div class="fc-consent-root"><div class="fc-dialog-container">{ASKS}</div></div>',
    "iubenda": f'<div id="iubenda-cs-banner"><div class="iubenda-cs-container">{ASKS}</div></div>',
    "cookieyes": f'<div class="cky-consent-container cky-box-bottom-left">{ASKS}</div>',
    "consentmanager": f'<div id="cmpwrapper"><div id="cmpbox" class="cmpbox">{ASKS}</div></div>',
    "of the page itself": f'<main><div class="page cookiewall">{ASKS}</div></main>',
}
ADDRESSES = [
    "https://consent.yahoo.com/v2/collectConsent?sessionId=3_cc-session_1",
    "https://consent.google.com/ml?continue=https://news.google.com/&gl=DE",
    "https://consent.youtube.com/m?continue=https%3A%2F%2Fwww.youtube.com%2F",
    "https://guce.techcrunch.com/consent?brandType=nonEu&sessionId=3",
    "https://myprivacy.dpgmedia.nl/consent?siteKey=x&callbackUrl=https%3A%2F%2Fwww.volkskrant.nl%2F",
    "https://www.ledger.example/cookiewall?next=/story",
]
URL = "https://ledger.example/story"


@pytest.mark.parametrize("name", DIALOGS)
@pytest.mark.parametrize("frame", ["{}", FRAME], ids=["alone", "framed"])
def test_a_dialog_of_a_consent_platform_that_is_all_text_is_a_wall(name: str, frame: str) -> None:
    page = Page.parse(URL, f"<html><title>The Ledger</title><body>{frame.format(DIALOGS[name])}</body></html>")
    assert (page.skipped, clean_text(page), Denoiser().clean(page).clean_page.text) == ("consent", "", "")


@pytest.mark.parametrize("url", ADDRESSES)
def test_the_address_of_a_dialog_is_evidence_too(url: str) -> None:
    html = f"<html><body><div class='box'><form action='/save'>{ASKS}</form></div></body></html>"
    assert Page.parse(url, html).skipped == "consent"
    assert Page.parse(url, html.replace("<button>", "<b>").replace("<form", "<div")).skipped is None


@pytest.mark.parametrize("name", DIALOGS)
def test_a_page_with_content_beside_the_dialog_is_read(name: str) -> None:
    for html in (STORY + DIALOGS[name], DIALOGS[name] + STORY, f"<main>{STORY}</main><div>{DIALOGS[name]}</div>"):
        page = Page.parse(URL, html)
        assert page.skipped is None
        assert "voted for the bridge" in clean_text(page)


OTHERS = {
    "words alone": f"<div class='dialog'>{ASKS}</div>",
    "a Chinese story of cookies": "<h1>网站与Cookie</h1><p>"
    + "我们使用Cookie来改善您的体验,请点击接受。" * 8
    + "</p>",
    "a short caption": f"<h1>The bridge at night</h1><p>Photo: A. Reader</p>{DIALOGS['onetrust']}",
    "a declared article": '<meta property="og:type" content="article">' + DIALOGS["didomi"],
    "a declared product": '<script type="application/ld+json">{"@type": "Product", "name": "A cup"}</script>'
    + DIALOGS["cookiebot"],
    "a page of links": "".join(f"<p><a href=/{n}>Story number {n} of today</a></p>" for n in range(30))
    + DIALOGS["onetrust"],
    "a class of the body": f'<body class="didomi-ready onetrust-open">{ASKS}',
    "a privacy policy": "<article><h1>Cookies</h1>" + ASKS * 3 + "</article>",
    "an empty dialog": '<div id="onetrust-consent-sdk"></div><p>Closed today.</p>',
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_looks_like_a_wall_is_read(name: str) -> None:
    assert Page.parse("https://ledger.example/privacy", OTHERS[name]).skipped is None


def test_the_path_of_a_story_of_consent_is_no_evidence() -> None:
    html = f"<html><body><form>{STORY.replace('article', 'div')}</form></body></html>"
    for path in ("/consent", "/2026/consent-and-its-limits?from=rss", "/topics/consent?page=2"):
        assert Page.parse(f"https://ledger.example{path}", html).skipped is None


def test_items_of_walls_pass_unchanged_and_are_counted(project: Project) -> None:
    project.write("test_spiders.py", SPIDER)
    bodies = {f"/{number}": DIALOGS["sourcepoint"].encode() for number in range(3)} | {"/story": STORY.encode()}
    with serving(lambda path: Answer(200, HTML, bodies[path])) as site:
        project.write("urls.json", json.dumps([site.url + path for path in bodies]))
        items = {item["url"].removeprefix(site.url): item.get("text") for item in project.crawl("articles")}
    assert set(items) == set(bodies)
    assert [path for path, text in items.items() if text] == ["/story"]
    assert project.stats["denoise/skipped/consent"] == 3
    assert "it shows nothing but a dialog that asks for consent" in project.log


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("600", Length(600)),
        (" 600px ", Length(600)),
        ("98%", Length(98, percent=True)),
        ("98.5 %", Length(98.5, percent=True)),
        ("40em", Length(640)),
        ("72pt", Length(96)),
        (".5in", Length(48)),
        ("-3px", Length(-3)),
        ("auto", None),
        ("*", None),
        ("3parsec", None),
        ("", None),
        (None, None),
    ],
)
def test_a_length_is_in_pixels_or_percent_or_unknown(text: str | None, expected: Length | None) -> None:
    assert parse_length(text) == expected


def test_an_inline_style_counts_before_the_attribute_and_its_last_readable_word_wins() -> None:
    style = "max-width:1px; WIDTH: 60%; width:auto"
    element = etree.Element("td", width="50", height="9", style=style)
    assert declared_length(element, "width") == Length(60, percent=True)
    assert declared_length(element, "height") == Length(9)
    assert declared_length(element, "left") is None


def test_boxes_come_from_the_mapping_and_else_from_the_attribute() -> None:
    html = """<body><p data-box="1 2 30 40">a</p><p data-box="5,6,7,8">b</p><p data-box="1 2 3">c</p>
    <p data-box="1 2 -3 4">d</p><p data-box="x y z w">e</p></body>"""
    boxes = {"/html/body/p[2]": (0, 0, 10, 10), "/html/body/p[9]": (0, 0, 1, 1), "p[[": (0, 0, 1, 1), "1+1": (0,)}
    page = Page.parse("https://example.com/", html, boxes=boxes)
    drawn = [box for box, tag in zip(drawn_boxes(page), page.nodes.tags, strict=True) if tag == "p"]
    assert drawn == [Box(1, 2, 30, 40), Box(0, 0, 10, 10), None, None, None]


@pytest.mark.parametrize("box", ["0 0 1e154 1e154", "0 0 inf 1", "nan 0 1 1", "-1e300 0 1 1"])
def test_a_box_that_no_browser_draws_is_no_box_and_no_area_overflows(box: str) -> None:
    html = "".join(f'<p data-box="{box}">Paragraph {number} of the page</p>' for number in range(4))
    page, other = (Page.parse(f"https://example.com/{one}", f"<body>{html}{one}</body>") for one in (1, 2))
    assert drawn_boxes(page) == [None] * len(page.nodes)
    method = MethodChoice("feature_tree").new()
    method.observe(other)
    assert len(method.judge(page).noise) == len(page.nodes)
