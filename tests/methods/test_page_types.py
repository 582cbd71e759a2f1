"""What tells the type of a page, and what stands at a place of it."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from denoise_crawler import denoise_pages
from denoise_crawler.kernel.columns import KINDS
from denoise_crawler.methods import MethodChoice, apply_guard
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.markup_words import kind_words_of
from denoise_crawler.methods.fusion.page_type import is_thread
from denoise_crawler.methods.fusion.weights import Model, shipped_model
from denoise_crawler.page import Page
from tests.methods.test_fusion import SHOP_PAGES, shipped_weights
from tests.strategies import html_pages

SENTENCE = "The harbour master said on Tuesday that the ferry, which had run aground, would be towed to the yard. "
NAMES = ["kettle", "lantern", "whistle", "compass"]
NAV = "<nav><a href=/>Home</a> <a href=/all>All</a></nav>"
ARTICLE = (
    '<meta property="og:type" content="article">'
    '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
    f"{NAV}<article class=post><h1>Ferry aground off the point</h1>"
    + "".join(f"<p>{SENTENCE * 3} {n}" for n in range(9))
    + "</article>"
)
THREAD = f"{NAV}<h1>Which kettle lasts?</h1>" + "".join(
    f"<div class='post message' id=post-{n}>"
    f"<div class=postauthor><a href=/user/{n} class=username>user{n}</a> Posts: {n}</div>"
    f"<div class='postbody content'>I have had mine for {n} years and it still boils. {SENTENCE}</div>"
    "<a href=/quote class=quote>Quote</a> <a href=/reply class=reply>Reply</a></div>"
    for n in range(9)
)
PRODUCT = (
    '<meta property="og:type" content="product"><script type="application/ld+json">'
    '{"@type": "Product", "sku": "K-7", "offers": {"@type": "Offer", "price": "49.99"}}</script>'
    f"{NAV}<div class='product single-product'><div class=product-images><img src=/1.jpg><img src=/2.jpg></div>"
    "<h1 class=product-title>Kettle de luxe</h1><div class='product-price price'>$49.99</div><p>SKU: K-7</p>"
    "<form class=cart><label>Quantity</label><input class=qty><button class=add-to-cart>Add</button></form>"
    "<div class=product-description><h2>Description</h2><p>A sturdy kettle of brushed steel that holds two litres "
    "and boils them in three minutes.</p>"
    "<ul><li>Two litres<li>Brushed steel<li>Two years of warranty</ul></div></div>"
)


BOARD = "<h1>Which ferry?</h1><table>{}</table><p>All times are GMT + 10 Hours</p>".format(
    "".join(
        f"<tr><td class=row1><b>crew{n}</b><br>Joined: {n} Mar 2005<br>Location: Perth</td><td class=row1><table>"
        f"<tr><td class=small>Posted: Mon Mar 0{n}, 2005 3:{n}8 am</td></tr>"
        f"<tr><td><span class=gen>In year {n} I took the early one, and it was late. "
        f"{SENTENCE}</span></td></tr></table></td></tr>"
        "<tr><td class=row1><a href=#top>Back to top</a></td></tr>"
        for n in range(1, 6)
    )
)


def page(html: str, url: str = "https://a.example/x") -> Page:
    return Page.parse(url, html)


def kinds(name: str, score: float) -> NDArray[np.float64]:
    return np.array([score if kind == name else 0.0 for kind in KINDS])


@pytest.mark.parametrize(
    ("kind", "html", "url"),
    [
        ("article", ARTICLE, "https://a.example/news/2026/ferry-aground-off-the-point"),
        ("forum", THREAD, "https://a.example/forum/viewtopic.php?t=12"),
        ("product", PRODUCT, "https://a.example/product/kettle-de-luxe"),
    ],
)
def test_a_page_says_by_itself_what_it_is(kind: str, html: str, url: str) -> None:
    assert [one.page_type for one in denoise_pages([(url, html)])] == [kind]


def test_what_the_trees_take_for_an_article_is_a_thread_if_posts_hold_its_text() -> None:
    declared = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
    assert [one.page_type for one in denoise_pages([("https://a.example/x", declared + BOARD)])] == ["forum"]


def test_of_a_thread_in_a_layout_of_tables_only_the_posts_are_text() -> None:
    (clean,) = denoise_pages([("https://a.example/12", BOARD)])
    texts = [line for line in clean.text.splitlines() if line != "Which ferry?"]
    assert [line[:9] for line in texts] == [f"In year {n}" for n in range(1, 6)]


BLOG = "<h1>The harbour</h1>" + "".join(
    f"<article><h2><a href=/2026/{n}>What came in on day {n}</a></h2><p>By <a href=/ann>Ann Lee</a> on "
    f"<time>May {n}, 2026</time></p><div class=entry>{2 * SENTENCE} It was day {n}.</div></article>"
    for n in range(1, 6)
)


HEADLINES = [f"What we know at {hour} in the morning" for hour in ("six", "seven", "eight", "nine", "ten")]


def live(tag: str) -> str:
    return "<h1>Ferry aground: live</h1>" + "".join(
        f"<article><time datetime=2026-05-02T1{n}:32>May 2, 2026 1{n}:32</time>"
        f"<{tag}>{headline}</{tag}><span class=author>Ann Lee</span>"
        f"<div class=entry>{2 * SENTENCE} It was hour {n}.</div></article>"
        for n, headline in enumerate(HEADLINES, 1)
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [(BOARD, True), (ARTICLE, False), (BLOG, False), (live("h2"), False), (live("p"), False)],
)
def test_a_page_has_posts_if_they_hold_its_text(html: str, *, expected: bool) -> None:
    one = page(html)
    assert is_thread(one, one.once(shipped_model().alone)) == expected


@pytest.mark.parametrize("tag", ["h2", "p"])
def test_a_live_report_keeps_its_headings(tag: str) -> None:
    (clean,) = denoise_pages([("https://a.example/live", live(tag))])
    assert all(headline in clean.text for headline in HEADLINES)


def test_readers_comments_do_not_make_an_article_a_thread() -> None:
    comment = (
        "<li class=comment><b class=author>Ann{0}</b> <i>May {0}, 2024</i><p>Glad it went well, all {0} of it.</p>"
    )
    html = f"{ARTICLE}<h2>Comments</h2><ul class=comments>{''.join(map(comment.format, range(1, 9)))}</ul>"
    one = page(html)
    assert not is_thread(one, one.once(shipped_model().alone))


def test_pages_with_fields_of_a_shop_are_products_once_the_site_is_known() -> None:
    addressed = [(f"https://shop.example/{number}", html) for number, html in enumerate(SHOP_PAGES)]
    assert {one.page_type for one in denoise_pages(addressed)} == {"product"}


def test_methods_and_weights_that_cannot_tell_say_nothing() -> None:
    assert [one.page_type for one in denoise_pages([("https://a.example/", ARTICLE)], method="link_ratio")] == [
        None
    ]
    untold = Model(msgspec.structs.replace(shipped_weights(), page_types=None))
    one = page(ARTICLE)
    assert untold.page_type(one, one.once(untold.alone), has_fields=False).name is None
    empty, model = page("<div></div>"), shipped_model()
    assert model.page_type(empty, empty.once(model.alone), has_fields=False).name is None


def test_a_page_that_the_guard_judges_again_keeps_its_type() -> None:
    one = page(ARTICLE)
    judged = MethodChoice("fusion").new().judge(one)
    judged.noise = [True] * len(judged.noise)
    again = apply_guard(one, judged)
    assert again.guarded
    assert again.page_type == judged.page_type == "article"


@given(html=html_pages())
def test_every_page_with_text_has_one_of_the_types(html: str) -> None:
    one = page(html, "http://[a/b")
    judged = MethodChoice("fusion").new().judge(one)
    assert (judged.page_type in KINDS) == bool(len(blocks_of(one)))


def words(html: str, url: str = "https://a.example/") -> frozenset[str]:
    page = Page.parse(url, html)
    return kind_words_of(page)


def test_words_come_from_names_the_address_what_is_declared_and_linked_data() -> None:
    html = """<meta property=og:type content="Product.Item"><meta name=generator content="phpBB 3">
    <script type="application/ld+json">{"@type": "DiscussionForumPosting", "a": {"@type": ["Person"]}}</script>
    <div class=postBody id=t1><p>Words</p></div>"""
    found = words(html, "https://a.example/forum/viewtopic.php?thread=1")
    assert {"post", "body", "/forum", "/viewtopic", "/thread", "@DiscussionForumPosting", "@Person"} <= found
    assert {"og:type=product", "og:type=item", "generator=phpbb"} <= found
