from __future__ import annotations

import json

import pytest

from denoise_crawler import Denoiser
from denoise_crawler.methods import METHODS
from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.guard import without_much_hidden
from denoise_crawler.page import Page

STORY = [
    f"The {name} left the harbour at dawn, although the old men of the village had warned its crew of the storm, "
    f"and came back at night with nothing but weed and stones in its nets, as they had said on day {day}."
    for day, name in enumerate(("trawler", "ferry", "barge", "tug", "yacht", "cutter"))
]
SPAM = " ".join(f"cheap{number % 97} pills casino{number % 31} loan{number % 13}" for number in range(2_000))
WAYS = {
    "attribute": "<div hidden>{}</div>",
    "inline style": "<div style='display:none'><p>{}</p></div>",
    "style sheet": "<style>.x1{{display:none}}</style><section class=x1>{}</section>",
    "off the screen": "<div style='position:absolute; left:-9999px'>{}</div>",
}
PANELS = {
    "details": "<details><summary>More</summary><p>{}</p></details>",
    "tab": "<div role=tabpanel hidden>{}</div>",
    "named by a button": "<button aria-expanded=false aria-controls=x></button><div id=x hidden>{}</div>",
    "found by searching": "<div hidden=until-found>{}</div>",
    "accordion": "<div data-testid=accordion-content-1><div hidden>{}</div></div>",
    "moved by a script": "<div hidden id='S:2'>{}</div>",
}


def paragraphs(texts: list[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def page(html: str, data: object = None, number: int = 0) -> Page:
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>' if data else ""
    menu = "<nav><a href=/>Home</a> <a href=/news>News</a></nav>"
    return Page.parse(f"https://a.example/{number}", f"<title>A storm</title><body>{script}{menu}{html}")


def kept(one: Page) -> str:
    count = len(one.nodes)
    noise = without_much_hidden(one, Judgement([False] * count, [0.0] * count)).noise
    return " ".join(text for text, gone in zip(one.nodes.texts, noise, strict=True) if not gone)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", METHODS)
def test_eight_thousand_hidden_words_of_spam_are_in_no_method_s_text(method: str, way: str) -> None:
    denoiser = Denoiser(method)
    story = f"<main><h1>A storm</h1>{paragraphs(STORY)}</main>"
    for number in range(1, 4):
        denoiser.learn(page(story.replace("storm", f"storm {number}"), number=number))
    cleaned = denoiser.clean(page(story + WAYS[way].format(SPAM)))
    assert "pills" not in cleaned.clean_page.text
    assert "harbour" in cleaned.clean_page.text


@pytest.mark.parametrize("panel", PANELS)
def test_panels_keep_more_text_than_is_seen(panel: str) -> None:
    assert "pills" in kept(page(paragraphs(STORY) + PANELS[panel].format(SPAM)))


def test_hidden_text_counts_where_the_page_shows_no_content_of_its_own() -> None:
    assert "ferry" in kept(page(f"<p>Please sign in.</p><div style=display:none>{paragraphs(STORY)}</div>"))


def test_less_hidden_text_than_is_seen_is_left_to_the_method() -> None:
    assert "ferry" in kept(page(f"{paragraphs(STORY[2:])}<div hidden>{paragraphs(STORY[:2])}</div>"))


@pytest.mark.parametrize(
    ("data", "meta"),
    [
        ({"@type": "Article", "articleBody": " ".join(STORY)}, ""),
        ({"@type": "Article", "isAccessibleForFree": False}, ""),
        ({"@type": "Article", "hasPart": {"isAccessibleForFree": "False", "cssSelector": ".wall"}}, ""),
        (None, f'<meta property="og:description" content="{STORY[1]}">'),
        (None, "<div hidden><h1>A storm took the boats of our town</h1></div>"),
    ],
)
def test_a_hidden_article_stays_if_the_page_tells_of_it(data: object, meta: str) -> None:
    offer = paragraphs(
        [f"Read all of it for {price} crowns a month, as long as you wish. " * 3 for price in range(4)]
    )
    wall = f"<div class=wall hidden>{'<h1>A storm took the boats of our town</h1>' * ('h1' in meta)}"
    html = f"{meta * ('h1' not in meta)}{offer}{wall}{paragraphs(STORY)}</div>"
    assert "ferry" in kept(page(html, data))
    assert "ferry" not in kept(page(f"{offer}<div class=wall hidden>{paragraphs(STORY)}</div>"))


def test_many_small_hidden_labels_are_left_to_the_method() -> None:
    labels = "".join(f"<li><i hidden>Colour number {number}</i></li>" for number in range(400))
    assert "Colour number 7" in kept(page(f"{paragraphs(STORY)}<ul>{labels}</ul>"))


def test_the_reason_names_what_was_done() -> None:
    one = page(paragraphs(STORY) + WAYS["attribute"].format(SPAM))
    count = len(one.nodes)
    assert "hidden" in without_much_hidden(one, Judgement([False] * count, [0.0] * count)).reason(count - 1)
