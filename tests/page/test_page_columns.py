"""A page that is kept as columns: what was read of it stays, and its tree is there for whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from denoise_crawler.core import MODES, choose
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.writing import Writing, columns_for
from denoise_crawler.page import Page
from denoise_crawler.page.held_pages import KeptPages, PageColumns
from denoise_crawler.rules import NO_RULES, SiteRules
from tests.test_denoiser import demo_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

URL = "https://news.example/storm"
STORY = "<p>A storm sank three boats in the harbour last night, said the <a href=/h>harbour master</a>."
ODD = {
    "preformatted": f"{STORY}<pre>one\n  two</pre>",
    "a table": f"{STORY}<table><tr><th>Day<th>Boats<tr><td>Monday<td>3</table>",
    "a formula": f"{STORY}<p>So <math alttext='x^2'><mi>x</mi></math> holds.<script type=math/tex>y</script>",
    "headings and lists": f"<h1>Storm</h1>{STORY}<h2>It took</h2><p>These:<ul><li>one<li>two</ul><p>So.",
    "declared": "<html lang=en><title>Storm</title><meta name=author content='A. Ruiz'>"
    f"<meta property=article:published_time content=2024-05-01><base href=/deep/>{STORY}",
    "hidden in the head": f"<title>{STORY * 9}",
    "deep": "<div>" * 3_000 + STORY,
    "no words": "<p><img src=a.png>",
}


@pytest.fixture(params=MODES[:2])
def _both_cores(request: pytest.FixtureRequest) -> Iterator[None]:
    choose(request.param)
    yield
    choose("auto")


def columns_of(page: Page, writing: Writing = Writing(), rules: SiteRules = NO_RULES) -> PageColumns | None:  # noqa: B008
    return columns_for(page, MethodChoice(), writing, rules)


@pytest.mark.usefixtures("_both_cores")
@pytest.mark.parametrize("html", ODD.values(), ids=ODD)
def test_a_page_of_columns_is_judged_and_written_as_the_page_itself(html: str) -> None:
    page, denoiser = Page.parse(URL, html), Denoiser()
    denoiser.learn(page)
    columns = columns_of(Page.parse(URL, html), Writing(more_metadata=True))
    assert columns is not None
    for form in Writing(more_metadata=True), Writing("markdown"), Writing("html"):
        own = Denoiser(writing=form)
        own.learn(page)
        left, right = own.clean(page), own.clean(columns.page(html))
        assert left.judgement
        assert right.judgement
        assert left.clean_page == right.clean_page
        assert (left.judgement.noise, left.judgement.scores) == (right.judgement.noise, right.judgement.scores)
        assert (left.visible, left.kept) == (right.visible, right.kept)


def test_text_and_metadata_of_most_pages_need_no_tree_again() -> None:
    again = parsed = 0
    for url, html in demo_pages():
        page, denoiser = Page.parse(url, html), Denoiser()
        denoiser.learn(page)
        if (columns := columns_of(page)) is not None:
            denoiser.clean(kept := columns.page(html))
            parsed += 1
            again += kept._make_tree is None
    assert again <= parsed // 10


def test_the_elements_of_a_page_of_columns_are_those_of_its_tree() -> None:
    columns = columns_of(Page.parse(URL, html := ODD["a table"]))
    assert columns is not None
    page = columns.page(html)
    found = {element.tag for element in page.nodes.elements}
    assert found == set(page.nodes.tags) - {"#text"}
    assert page.nodes.elements[1].getroottree().getroot() is page.tree
    assert [element.tag for element in page.nodes.elements[1:3]] == ["p", "p"]


def test_who_changes_the_tree_of_a_page_of_columns_takes_no_element_from_its_nodes() -> None:
    columns = columns_of(Page.parse(URL, html := ODD["a table"]))
    assert columns is not None
    page = columns.page(html)
    root = page.root
    assert root is not None
    for child in list(root):
        root.remove(child)
    assert "table" in [element.tag for element in page.nodes.elements]


@pytest.mark.parametrize(
    ("writing", "rules", "html"),
    [
        (Writing("markdown"), NO_RULES, STORY),
        (Writing(records=True), NO_RULES, STORY),
        (Writing(), SiteRules(texts={"news.example": "body: p"}), STORY),
        (Writing(), NO_RULES, ""),
    ],
)
def test_what_needs_the_tree_is_not_kept_as_columns(writing: Writing, rules: SiteRules, html: str) -> None:
    assert columns_of(Page.parse(URL, html), writing, rules) is None


def test_kept_pages_have_a_bound_and_are_given_back_once() -> None:
    kept = KeptPages[int](most=100 * 15)
    small, large = "<p>" + 50 * "a", "<p>" + 200 * "a"
    assert kept.keep(1, Page.parse(URL, small), small)
    assert not kept.keep(1, Page.parse(URL, small), small)
    assert not kept.keep(2, Page.parse(URL, large), large)
    assert kept.take(1, small + " ") is None
    assert kept.take(2, large) is None
    found = kept.take(1, small)
    assert found is not None
    assert found.markup == small
    assert kept.take(1, small) is None
    assert kept.keep(2, Page.parse(URL, small), small)
