"""What a page costs, counted as calls and bytes, which are alike on every machine: no change may double the work.

The bounds are about 1.3 times what was counted when they were set. A change that needs more has to say what it
brings for it: run ``python -m tests.crawl.test_work``, which prints the table of counts, and set ``BOUNDS`` to
1.3 times these, in the same commit. A change that needs much less lowers them, so that the gain is kept.
"""

import cProfile
import gc
import tracemalloc
import weakref
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import pytest

from denoise_crawler import kernel
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods import METHODS as ALL
from denoise_crawler.methods import MethodChoice
from denoise_crawler.page import Page
from denoise_crawler.page.parsing import parse
from examples.demo_site.pages import article_page, charset_of
from examples.demo_site.replies import article_path, articles
from tests.memory import bytes_held

BASE = "https://ledger.example"
KNOWN = 40
METHODS = ("fusion", "style_tree", "link_ratio")
# Calls of functions, ours and compiled ones, for each node of the page; for each page of the site, bytes that are
# stored, and held in memory.
BOUNDS: dict[str, dict[str, float]] = {
    "fusion en": {"nodes": 1, "learn": 3.4, "judge": 1.6, "write": 1.3, "bytes": 740, "held": 11_700},
    "fusion zh": {"nodes": 1, "learn": 2.9, "judge": 1.7, "write": 2.5, "bytes": 720, "held": 11_700},
    "style_tree en": {"nodes": 1, "learn": 64, "judge": 45, "write": 1.6, "bytes": 2_000, "held": 11_700},
    "style_tree zh": {"nodes": 1, "learn": 87, "judge": 42, "write": 2.6, "bytes": 1_500, "held": 15_700},
    "link_ratio en": {"nodes": 1, "learn": 0.1, "judge": 0.4, "write": 1.6},
    "link_ratio zh": {"nodes": 1, "learn": 0.1, "judge": 0.4, "write": 2.8},
}


def pages(lang: str) -> list[tuple[str, bytes]]:
    """Return the bundled site's articles in a language, the same ones always."""
    return [
        (BASE + article_path(article), article_page(article, BASE).encode(charset_of(article)))
        for article in articles()
        if article.lang == lang
    ]


def calls(run: Callable[[], object]) -> int:
    """Return how many functions are called while ``run`` runs."""
    profile = cProfile.Profile()
    profile.runcall(run)
    return sum(entry.callcount for entry in profile.getstats())


def count_work(method: str, lang: str) -> dict[str, float]:
    """Return the counts of a page whose site is known: by stage calls for each node; bytes a page."""
    *others, (url, html) = pages(lang)[: KNOWN + 1]
    denoiser = Denoiser(method)
    for other in others:
        page = Page.parse(*other)
        denoiser.learn(page)
        denoiser.clean(page)  # what is loaded and cached with the first pages is there
    page, found = Page.parse(url, html), dict[str, int]()

    def done(stage: str, run: Callable[[], object]) -> None:
        found[stage] = calls(run)

    done("nodes", lambda: page.nodes)
    done("learn", partial(denoiser.learn, page))
    done("judge", partial(denoiser.judge, page))
    judgement = denoiser.judge(page)
    done("write", partial(denoiser.write, page, judgement))
    per_node = {stage: count / len(page.nodes) for stage, count in found.items()}
    known = denoiser.method_for(page.site)
    if not known.learns:
        return per_node
    stored, held = len(known.to_bytes()), bytes_held(known) - bytes_held(Denoiser(method).method_for(page.site))
    return per_node | {"bytes": stored / known.pages_known, "held": held / known.pages_known}


@pytest.mark.skipif(kernel.reader is None, reason="the bounds are those of the compiled core")
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("method", METHODS)
def test_no_stage_does_much_more_work_on_a_page_than_it_did(method: str, lang: str) -> None:
    bounds = BOUNDS[f"{method} {lang}"]
    above = {stage: count for stage, count in count_work(method, lang).items() if not count <= bounds[stage]}
    assert not above, f"above the bounds of {bounds}: see how to raise one at the top of this file"


def test_a_page_that_its_site_does_not_want_costs_no_more_than_to_look() -> None:
    denoiser = Denoiser(MethodChoice("fusion", {"max_pages": 1}))
    everything = sorted((Page.parse(*page) for page in pages("en")[:10]), key=lambda page: page.key)
    denoiser.learn(everything[0])
    assert calls(partial(denoiser.learn, everything[-1])) < 60


@pytest.mark.parametrize("method", ALL)
def test_a_page_that_was_cleaned_leaves_nothing_to_the_garbage_collector(method: str) -> None:
    denoiser, found = Denoiser(method), [Page.parse(*page) for page in pages("en")[:4]]
    for page in found:
        denoiser.learn(page)
        denoiser.clean(page)
    gone = [weakref.ref(page) for page in found]
    gc.disable()
    try:
        del page, found
        assert [one() for one in gone] == [None] * len(gone)
    finally:
        gc.enable()


ENDLESS = {
    "class": '<body><p class="{word}">Some words of text.</p></body>',
    "address": '<body><p><a href="/{word}">Some words of text.</a></p></body>',
    "picture": '<body><p>Some words of text <img src="/{word}" alt="{word}"></p></body>',
    "title": "<head><title>{words}</title></head><body><h1>{words}</h1><p>Some words of text.</p></body>",
}


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("html", ENDLESS.values(), ids=ENDLESS)
def test_what_is_endless_on_a_page_is_not_remembered_when_the_page_is_gone(method: str, html: str) -> None:
    def clean(numbers: range) -> None:
        denoiser = Denoiser(method)
        for number in numbers:
            word, words = f"{number:06}{'w' * 50_000}", f"{number:06}w " * 6_000
            page = Page.parse(f"{BASE}/{number}", html.format(word=word, words=words))
            denoiser.learn(page)
            denoiser.clean(page)
        urlsplit.cache_clear()  # Python's own, of 128 addresses
        gc.collect()

    clean(range(4))  # as many as are counted: some modules are loaded by the second page, not the first
    tracemalloc.start()
    try:
        clean(range(4, 8))
        assert tracemalloc.get_traced_memory()[0] < 100_000
    finally:
        tracemalloc.stop()


def test_a_page_of_more_elements_than_are_read_is_skipped_without_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("denoise_crawler.page.page.MAX_ELEMENTS", 1_000)
    page, below = (Page.parse(BASE, f"<body>{'<p>word' * count}") for count in (1_000, 999))
    assert below.skipped is None
    assert calls(lambda: page.skipped) < 40
    assert (page.skipped, page.nodes.tags, page.root) == ("too_large", ["body"], None)
    assert Page(BASE, parse("<p>word" * 1_000)).skipped == "too_large"
    cleaned = Denoiser().clean(page)
    assert cleaned.clean_page.text == ""


if __name__ == "__main__":
    for name in METHODS:
        for language in ("en", "zh"):
            rounded = {stage: round(count, 1) for stage, count in count_work(name, language).items()}
            print(f"{name} {language}", rounded)
