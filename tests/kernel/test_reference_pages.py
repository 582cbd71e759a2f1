"""Pages are cut, compared and judged by the reference as by what is compiled."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler import denoise_pages
from denoise_crawler.evaluation import read_gold
from denoise_crawler.kernel.names import LONGEST_NAMES, words_of
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.page import Page
from tests import roads
from tests.kernel.test_reference import assert_same
from tests.strategies import html_pages

pytestmark = roads.is_built
MANY = 20_000
PAGES = (
    *roads.ODD_PAGES,
    "<div class=comments><h1>A title</h1><p class=comment>One</div><div class=comments>Two</div>",
    "<p>So it is:<ul><li>one<li>two</ul><p>See also:<ul><li><a href=/x>linked</a></ul>" * 3,
    "<h1>A<h2>b</h2></h1><h3>c</h3><p>d</p>" * 9,
    "<p>lone \ud800 surrogate \udfff<p>nul \0 x<title>lone \ud800 surrogate</title>",
    "<title>İstanbul ΣΑΣ straße</title><h1>İSTANBUL σας STRASSE</h1><p>istanbul ΣΑΣ strasse",
    "<title>東京都の天気</title><h1>東京都の天気予報</h1><p>東京都の天気は晴れ・曇り。" * 2,
    "<p>x <math><mi>y</mi></math> z</p>" * 5 + "<pre>a<br>b</pre><dl><dt>a<dd>b</dl><table><tr><td>1<td>2</table>",
    "<b>" * 3_000 + "deep",
    "".join(f"<p>block {number % 977}" for number in range(MANY)),
    "<h2>a</h2>" * MANY,
    *(file.read_text("utf-8") for file in sorted(Path(__file__).parents[1].glob("methods/golden/*.html"))),
)


def assert_same_page(html: str) -> None:
    page = Page.parse("https://a.example/", html)
    blocks = assert_same("blocks_of", page.nodes, frozenset(words_of(page.title[:LONGEST_NAMES])))
    assert_same("calls_in", blocks)
    assert_same("lines_around_text", blocks)
    assert_same("headline_of", page.title, blocks)


@pytest.mark.parametrize("html", PAGES, ids=range(len(PAGES)))
def test_odd_and_golden_pages_have_the_same_blocks(html: str) -> None:
    assert_same_page(html)


@settings(deadline=None)
@given(html_pages(60))
def test_any_page_has_the_same_blocks(html: str) -> None:
    assert_same_page(html)


def judged(pages: Sequence[tuple[str, str]]) -> Iterator[Any]:
    """Yield what a method makes of pages that it has learned and partly forgot, and what it keeps of them."""
    method, read = Fusion(max_pages=len(pages) // 2 + 1), [Page.parse(url, html) for url, html in pages]
    for page in read:
        method.observe(page)
        yield method.novelty(page), method.evidence.repeated
    for page in read:
        judgement = method.judge(page)
        yield judgement.noise, judgement.scores, judgement.confidence, judgement.page_type
        yield [judgement.reason(node) for node in range(0, len(page.nodes), 1 + len(page.nodes) // 10)]
    yield method.to_bytes()


def assert_judged_alike(pages: Sequence[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for road in roads.ROADS:
        roads.take(road, monkeypatch)
        found.append(list(judged(pages)))
    assert found[0] == found[1]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(html_pages(40), min_size=1, max_size=4))
def test_any_site_is_judged_alike(monkeypatch: pytest.MonkeyPatch, found: list[str]) -> None:
    assert_judged_alike([(f"https://a.example/{number}", html) for number, html in enumerate(found)], monkeypatch)


def test_odd_and_golden_pages_are_judged_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_judged_alike([(f"https://a.example/{number}", html) for number, html in enumerate(PAGES)], monkeypatch)


@pytest.mark.parametrize("name", ["daniel", "dragnet", "wcxb"])
def test_gold_pages_come_out_alike(corpus: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    some = islice(read_gold(corpus, name), 0, None, 90)
    pages = [(page.url or f"https://{page.site}/{page.id}", page.html) for page in some]
    assert_judged_alike(pages, monkeypatch)
    found = []
    for road in roads.ROADS:
        roads.take(road, monkeypatch)
        found.append(list(denoise_pages(pages)))
    assert found[0] == found[1]
    assert any(page.text for page in found[0])
