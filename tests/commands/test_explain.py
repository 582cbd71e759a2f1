"""``scrapy denoise explain`` and ``evaluate``."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods import METHODS, Judgement, MethodChoice
from denoise_crawler.output.explanation import MAX_BLOCK_CHARACTERS, doubts, explanation
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.store import SiteState, Store
from examples.demo_site.replies import article_path, articles, respond
from examples.demo_site.server import DemoServer
from tests.conftest import Project
from tests.scrapy_process import denoise
from tests.strategies import html_pages

HTML = f"""<ul><li><a href=1>One</a><li><a href=2>Two</a></ul>
<p>A sentence with <a href=3>a link</a> in it.<p>{"long " * 100}"""


def page(html: str = HTML) -> Page:
    return Page.parse("https://example.com/1", html)


# --- what is explained


def test_each_block_comes_in_order_with_its_verdict_score_and_reason() -> None:
    one = page()
    found = explanation(one, MethodChoice("link_ratio").new().judge(one))
    assert found[:3] == [
        {"text": "One", "kept": False, "score": 1.0, "reason": "100% links, over 70%"},
        {"text": "Two", "kept": False, "score": 1.0, "reason": "100% links, over 70%"},
        {"text": "A sentence with a link in it.", "kept": True, "score": 0.0, "reason": "22% links, not over 70%"},
    ]
    assert len(found[3]["text"]) <= MAX_BLOCK_CHARACTERS
    assert found[3]["text"].endswith("long…")


@pytest.mark.parametrize("name", sorted(METHODS))
@settings(max_examples=30)
@given(html=html_pages(15))
def test_the_blocks_hold_all_text_kept_and_dropped_for_every_method(name: str, html: str) -> None:
    one = page(html)
    judgement = MethodChoice(name).new().judge(one)
    found = explanation(one, judgement)
    json.dumps(found)
    for kept in (True, False):
        texts = [text for text, gone in zip(one.nodes.texts, judgement.noise, strict=True) if gone is not kept]
        told = [block["text"] for block in found if block["kept"] is kept]
        assert "".join("".join(told).split()) == "".join("".join(texts).split())


def test_a_page_is_explained_only_where_that_is_asked_for() -> None:
    one = page()
    assert Denoiser("link_ratio").clean(one).clean_page.explanation is None
    denoiser = Denoiser("link_ratio", writing=Writing(explain=True))
    explained = denoiser.clean(one).clean_page
    assert explained.explanation == explanation(one, denoiser.judge(one))
    assert json.loads(json.dumps(asdict(explained)))["explanation"][0]["kept"] is False


def test_a_feed_carries_explanations(project: Project, server: DemoServer) -> None:
    project.write(
        "test_spiders.py",
        "import scrapy\nclass One(scrapy.Spider):\n    name = 'one'\n"
        f"    start_urls = ['{server.url}{article_path(articles()[0])}']\n"
        "    def parse(self, response):\n        yield {'url': response.url}\n",
    )
    extra = ("-s", "DENOISE_EXPLAIN=1", "-s", 'DENOISE_EXTRA_FIELDS={"explanation": "why"}')
    (item,) = project.crawl("one", *extra)
    kept = [block["text"] for block in item["why"] if block["kept"]]
    assert kept
    assert kept[0].rstrip("…") in item["text"]


# --- what is in doubt


def test_a_low_confidence_says_how_much_kept_and_dropped_text_is_in_doubt_and_quotes_the_worst() -> None:
    texts = ["The council voted on Monday.", "Sign up for our letter", "The council voted on Monday.", "Home"]
    one = Page.parse("", "".join(f"<p>{text}</p>" for text in texts))
    nodes = one.nodes.texts
    chances = {texts[0]: 0.9, texts[1]: 0.4, "Home": 0.25}
    scores = [chances.get(text, 0.0) for text in nodes]
    noise = [bool(text) and (text == "Home" or index > nodes.index(texts[1])) for index, text in enumerate(nodes)]
    judgement = Judgement(noise, scores, str, confidence=0.6)
    assert doubts(one, judgement, 0) == [
        "about 13 of 42 kept characters may be noise, as “Sign up for our letter”",
        "about 1 of 4 dropped characters may be content, as “Home”",
        "nothing is known of its site",
    ]
    assert doubts(one, judgement, 3) == doubts(one, judgement)
    assert doubts(one, replace(judgement, rules_applied="a.txt"), 0) == []
    assert doubts(one, replace(judgement, confidence=None), 0) == []


def test_the_command_tells_the_confidence_and_what_lowers_it(folder: Path) -> None:
    (folder / "odd.html").write_text(
        f"<ul>{''.join(f'<li><a href=/{n}>Story number {n}</a> told in few words' for n in range(20))}</ul>"
    )
    told = denoise(folder, "explain", "odd.html").stdout
    [as_json] = [json.loads(line) for line in denoise(folder, "explain", "odd.html", "--json").stdout.splitlines()]
    assert as_json["confidence"] < 0.9
    assert f"confidence {as_json['confidence']:.2f}: about {as_json['confidence']:.0%} of the text" in told
    assert as_json["doubts"][-1] == "nothing is known of its site"
    assert all(f"  {doubt}\n" in told for doubt in as_json["doubts"])
    assert "nothing is known" not in denoise(folder, "explain", "odd.html", "--method", "one_look").stdout


# --- scrapy denoise explain


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with some pages of a site in one file, and the first of them in another."""
    base = "https://news.example"
    lines = [
        json.dumps({"url": base + article_path(story), "html": respond(article_path(story), base).body.decode()})
        for story in articles()[:5]
    ]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    (tmp_path / "one.jsonl").write_text(lines[0])
    return tmp_path


def test_blocks_of_a_file_are_printed_with_verdict_and_reason(folder: Path) -> None:
    done = denoise(folder, "explain", "one.jsonl", "--all")
    lines = done.stdout.splitlines()
    assert lines[1] == "method fusion; site news.example, nothing known: judged by the page alone"
    assert " blocks kept, " in lines[2]
    assert "-   0.0" in done.stdout
    assert "+   0.9" in done.stdout
    assert "\x1b" not in done.stdout
    assert not done.stderr


def test_what_is_surely_noise_is_folded_unless_all_is_asked_for(folder: Path) -> None:
    folded = denoise(folder, "explain", "one.jsonl").stdout
    every = denoise(folder, "explain", "one.jsonl", "--all").stdout
    runs = [line for line in folded.splitlines() if line.startswith("… ")]
    assert runs
    assert sum(int(line.split()[1]) for line in runs) + _shown(folded) == _shown(every)
    assert [line for line in every.splitlines() if line.startswith("+")] == [
        line for line in folded.splitlines() if line.startswith("+")
    ]


def _shown(printed: str) -> int:
    return sum(line[:1] in ("+", "-") for line in printed.splitlines())


def test_pages_of_the_site_make_the_reasons_tell_of_them(folder: Path) -> None:
    done = denoise(folder, "explain", "one.jsonl", "--site-pages", "pages.jsonl", "--all")
    assert "site news.example, 5 pages known" in done.stdout
    assert "its text is on 4 of 4 other pages" in done.stdout


def test_what_a_crawl_knows_is_taken_from_its_store(folder: Path) -> None:
    method = MethodChoice("style_tree").new()
    for line in (folder / "pages.jsonl").read_text().splitlines():
        found = json.loads(line)
        method.observe(Page.parse(found["url"], found["html"]))
    store = Store(folder / "known.sqlite")
    store.save_knowledge("news.example", method.store_key, method.to_bytes(), lambda parts: parts[-1])
    store.save_state("news.example", method.store_key, SiteState(5, ready=True))
    store.close()
    arguments = ("explain", "one.jsonl", "--method", "style_tree", "--option", "threshold=0.5")
    done = denoise(folder, *arguments, "--store", "known.sqlite")
    assert "method style_tree; site news.example, 5 pages known" in done.stdout
    assert "below 0.5; on 5 of 5 pages" in done.stdout
    assert "nothing known" in denoise(folder, *arguments).stdout
    assert "there is no store none.sqlite" in denoise(folder, *arguments, "--store", "none.sqlite", code=1).stderr


def test_json_is_an_object_a_page_and_filters_hold(folder: Path) -> None:
    def blocks(*arguments: str) -> list[dict[str, Any]]:
        done = denoise(folder, "explain", "one.jsonl", "--json", *arguments)
        (line,) = done.stdout.splitlines()
        found: list[dict[str, Any]] = json.loads(line)["blocks"]
        return found

    everything, kept, dropped = blocks(), blocks("--only", "kept"), blocks("--only", "dropped")
    assert {block["kept"] for block in kept} == {True}
    assert {block["kept"] for block in dropped} == {False}
    assert len(kept) + len(dropped) == len(everything)
    assert min(len(block["text"]) for block in blocks("--min-characters", "30")) >= 30


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ftp://example.com/a", "only http and https can be fetched, not ftp"),
        ("nowhere.html", "nowhere.html is not there"),
    ],
)
def test_what_cannot_be_read_is_told_and_the_others_are_explained(folder: Path, source: str, said: str) -> None:
    done = denoise(folder, "explain", source, "one.jsonl", code=1)
    assert said in done.stderr
    assert "blocks kept" in done.stdout
