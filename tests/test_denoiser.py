import logging
import weakref
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from statistics import fmean

import pytest

from denoise_crawler import CleanPage, denoise_pages
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import (
    GoldPage,
    Score,
    addressed,
    by_site,
    mean,
    read_gold,
    score,
)
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from examples.demo_site.pages import article_page
from examples.demo_site.replies import Article, article_path, articles, gold_text, respond

SITES = ("one.example", "two.example", "three.example")


@cache
def english() -> list[Article]:
    return [article for article in articles() if article.lang == "en"][:24]


@cache
def demo_pages(site: str = SITES[0]) -> list[tuple[str, str | bytes]]:
    base = f"https://{site}"
    return [(base + article_path(article), respond(article_path(article), base).body) for article in english()]


@cache
def interleaved() -> list[tuple[str, str | bytes]]:
    """Three sites, page by page in turn, each with eight stories of its own."""
    parts = [demo_pages(site)[8 * number : 8 * number + 8] for number, site in enumerate(SITES)]
    return [page for turn in zip(*parts, strict=True) for page in turn]


def all_text(url: str, html: str | bytes) -> str:
    return clean_text(Page.parse(url, html))


def learned(denoiser: Denoiser, pages: list[tuple[str, str | bytes]]) -> list[CleanPage]:
    parsed = [Page.parse(url, html) for url, html in pages]
    for page in parsed:
        denoiser.learn(page)
    return [denoiser.clean(page).clean_page for page in parsed]


# --- what comes out


def test_there_is_one_clean_page_for_each_page_in_their_order() -> None:
    found = list(denoise_pages(demo_pages()))
    assert [type(page) for page in found] == [CleanPage] * 24
    assert [page.url for page in found] == [url for url, _ in demo_pages()]
    assert [page.title for page in found] == [article.title for article in english()]
    assert {page.site for page in found} == {"one.example"}
    assert {page.language for page in found} == {"en-us"}
    assert {(page.method, page.warm, page.fetched_at) for page in found} == {("fusion", True, None)}
    assert all(0.2 < (page.noise_ratio or 0.0) < 0.9 for page in found)


def test_the_clean_text_is_nearer_to_the_gold_text_than_all_the_text_of_the_page() -> None:
    gold = [gold_text(article) for article in english()]

    def against_gold(texts: list[str]) -> Score:
        return mean(map(score, texts, gold))

    everything = against_gold([all_text(*page) for page in demo_pages()])
    link_ratio = against_gold([page.text for page in denoise_pages(demo_pages(), method="link_ratio")])
    style_tree = against_gold([page.text for page in denoise_pages(demo_pages(), method="style_tree")])
    fusion = against_gold([page.text for page in denoise_pages(demo_pages())])
    assert everything.f1 < link_ratio.f1 < style_tree.f1 < fusion.f1
    assert style_tree.recall > 0.99
    assert fusion.f1 > 0.9


def test_str_and_bytes_give_the_same() -> None:
    as_text = [(url, html.decode() if isinstance(html, bytes) else html) for url, html in demo_pages()]
    assert list(denoise_pages(as_text)) == list(denoise_pages(demo_pages()))


def test_sites_that_come_interleaved_are_learned_each_for_itself() -> None:
    alone = {page.url: page for site in SITES for page in denoise_pages(of_site(site))}
    assert list(denoise_pages(interleaved())) == [alone[url] for url, _ in interleaved()]


def of_site(site: str) -> list[tuple[str, str | bytes]]:
    return [(url, html) for url, html in interleaved() if site in url]


def test_a_page_that_comes_twice_counts_once_and_comes_out_twice() -> None:
    once = list(denoise_pages(demo_pages()))
    assert list(denoise_pages([*demo_pages(), demo_pages()[3]])) == [*once, once[3]]


# --- what goes in


@pytest.mark.parametrize("method", ["fusion", "style_tree", "link_ratio"])
def test_a_generator_is_read_once_and_no_more_of_its_pages_are_held_than_there_is_room_for(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = 3 * max(len(html) for _, html in demo_pages())
    monkeypatch.setattr("denoise_crawler.denoiser.MAX_PARSED_CHARACTERS", room)

    class Html(str):
        """A page that can be watched."""

    alive: list[weakref.ref[Html]] = []
    most = given_out = 0

    def pages() -> Iterator[tuple[str, str]]:
        nonlocal most, given_out
        for url, html in demo_pages():
            assert isinstance(html, bytes)
            watched = Html(html.decode())
            alive.append(weakref.ref(watched))
            yield url, watched
            del watched
            given_out += 1
            most = max(most, sum(found() is not None for found in alive))

    source = pages()
    found = list(denoise_pages(source, method=method))
    assert [page.text for page in found] == [page.text for page in denoise_pages(demo_pages(), method=method)]
    assert given_out == len(found) == 24
    held = list(accumulate(len(html) for _, html in demo_pages()))
    assert most <= sum(size <= room for size in held) + 2 < given_out
    assert next(source, None) is None


def test_nothing_is_read_before_the_first_page_is_wanted() -> None:
    source = iter(demo_pages())
    found = denoise_pages(source)
    assert next(source) == demo_pages()[0]
    assert len(list(found)) == 23


def test_a_method_that_does_not_learn_gives_each_page_as_it_comes() -> None:
    source = iter(demo_pages())
    found = denoise_pages(source, method="link_ratio")
    assert next(found).url == demo_pages()[0][0]
    assert next(source) == demo_pages()[1]


@pytest.mark.parametrize("method", ["fusion", "style_tree", "link_ratio"])
def test_lone_surrogates_and_pages_without_anything_pass(method: str) -> None:
    pages: list[tuple[str, str | bytes]] = [
        ("https://a.example/", "<p>surrogate \udfff in the text</p>"),
        ("https://a.example/empty", ""),
        ("https://a.example/no-bytes", b""),
        ("https://a.example/no-text", "<html><body><img src=x></body></html>"),
        ("https://a.example/frames", "<frameset><frame src=x></frameset>"),
        ("https://a.example/binary", b"\x00\xff\xfe"),
        ("", "<p>without an address</p>"),
        ("http://[bad", "<p>with a bad address</p>"),
    ]
    found = list(denoise_pages(pages, method=method))
    assert [page.url for page in found] == [url for url, _ in pages]
    assert found[0].text.startswith("surrogate ")
    assert [page.text for page in found[1:5]] == ["", "", "", ""]
    assert [page.text for page in found[6:]] == ["without an address", "with a bad address"]


@pytest.mark.parametrize("method", ["style_tree", "link_ratio"])
def test_pages_that_are_all_alike_keep_their_text(method: str) -> None:
    html = "<body><ul><li><a href=/>Home</a></li></ul><p><a href=/x>The same story everywhere</a></p></body>"
    found = list(denoise_pages([(f"https://a.example/{number}", html) for number in range(6)], method=method))
    assert {page.text for page in found} == {"- Home\nThe same story everywhere"}
    assert {page.noise_ratio for page in found} == {0.0}


def test_pages_that_differ_in_their_buttons_alone_keep_their_text() -> None:
    names = ["ferry", "harbour", "toll", "museum", "astrolabe", "train", "valley", "seal", "winter"]
    pages = [
        (f"https://a.example/{name}", f"<p>The same text</p><form><button>Buy the {name}</button></form>")
        for name in names
    ]
    assert {page.text for page in denoise_pages(pages)} == {"The same text"}


def test_options_reach_the_method() -> None:
    everything = list(denoise_pages(demo_pages(), method="style_tree", threshold=0.0))
    assert [page.text for page in everything] == [all_text(*page) for page in demo_pages()]
    assert {page.noise_ratio for page in everything} == {0.0}


# --- what is not in memory


def test_with_one_site_in_memory_the_result_is_that_with_many() -> None:
    knowledge = InMemoryKnowledge()
    few = learned(Denoiser(knowledge=knowledge, sites_in_memory=1), interleaved())
    assert few == learned(Denoiser(), interleaved()) == list(denoise_pages(interleaved()))
    assert set(knowledge) == set(SITES)


def test_what_was_saved_is_known_to_the_next_denoiser() -> None:
    knowledge = InMemoryKnowledge()
    first = Denoiser(knowledge=knowledge)
    expected = learned(first, interleaved())
    assert knowledge == {}
    first.save("two.example")
    assert set(knowledge) == {"two.example"}
    first.save()
    assert set(knowledge) == set(SITES)
    later = Denoiser(knowledge=knowledge)
    assert [later.clean(Page.parse(url, html)).clean_page for url, html in interleaved()] == expected


@pytest.mark.parametrize("damage", [b"no tree", b"SST\x01 damaged", b"SST\x09"])
def test_damaged_knowledge_is_reported_and_the_site_is_learned_anew(
    damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    knowledge = InMemoryKnowledge({"one.example": damage})
    denoiser = Denoiser(knowledge=knowledge)
    assert learned(denoiser, demo_pages()) == list(denoise_pages(demo_pages()))
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "one.example cannot be read and is left out" in record.getMessage()
    denoiser.save()
    assert knowledge["one.example"] != damage


def test_what_is_known_of_a_site_is_not_replaced_by_nothing() -> None:
    knowledge = InMemoryKnowledge({"one.example": b"knowledge that cannot be read"})
    denoiser = Denoiser(knowledge=knowledge)
    denoiser.clean(Page.parse(*demo_pages()[0]))
    denoiser.save()
    assert knowledge["one.example"] == b"knowledge that cannot be read"


def test_a_method_that_does_not_learn_puts_nothing_away() -> None:
    knowledge = InMemoryKnowledge()
    denoiser = Denoiser("link_ratio", knowledge=knowledge, sites_in_memory=1)
    learned(denoiser, interleaved())
    denoiser.save()
    assert knowledge == {}


BASE = "https://news.example"
MOST_PAGES = 60


def warm_and_cold(sites: Iterable[list[GoldPage]]) -> tuple[float, float]:
    """Return the mean F1 of all pages knowing their site, and cold."""
    warm, cold = [], []
    for pages in sites:
        knowing = Denoiser()
        parsed = [Page.parse(url, html, site=pages[0].site) for url, html in addressed(pages)]
        for page in parsed:
            knowing.learn(page)
        for gold, page in zip(pages, parsed, strict=True):
            warm.append(score(knowing.clean(page).clean_page.text, gold.gold or "").f1)
            cold.append(score(Denoiser().clean(page).clean_page.text, gold.gold or "").f1)
    return fmean(warm), fmean(cold)


@pytest.mark.parametrize("known", [2, 3, 5, 24])
def test_the_bundled_site_is_no_worse_warm_than_cold(known: int) -> None:
    pages = [
        GoldPage(
            one.id, "news.example", article_page(one, BASE), f"{BASE}{article_path(one)}", gold=gold_text(one)
        )
        for one in articles()[:known]
    ]
    warm, cold = warm_and_cold([pages])
    assert warm >= cold - 0.002


@pytest.mark.parametrize("name", ["fundus80", "dragnet"])
def test_gold_sets_are_no_worse_warm_than_cold(corpus: Path, name: str) -> None:
    pages = (page for page in read_gold(corpus, name) if page.gold is not None)
    sites = by_site(pages, 2).values()
    taken, count = [], 0
    for found in sites:
        if count < MOST_PAGES:
            taken.append(found)
            count += len(found)
    warm, cold = warm_and_cold(taken)
    assert warm >= cold - 0.01
