"""Dialogs that ask for consent, as they stand in pages that show nothing else, and pages that only look so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from tests.article_spider import SPIDER
from tests.loopback import HTML, Answer, serving

if TYPE_CHECKING:
    from tests.conftest import Project

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
