"""The demo site: its stories, what it plants in them and what is left of it."""

import re
import signal
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from functools import cache
from subprocess import PIPE
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from lxml import html

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.page import Page
from examples.demo_site.articles import WORDS, load_json, slideshow_path, slideshows
from examples.demo_site.pages import BREAKAGES, article_page, breakage_of, charset_of
from examples.demo_site.replies import Article, Reply, article_path, articles, gold_text, respond
from tests.conftest import ROOT
from tests.programs import run_python

BASE = "http://127.0.0.1:4321"
ARTICLES = articles()
TRAPS = {"/archive/": 301, "/gm-": 410, "/ar-AA0gone": 404}


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def tree_of(reply: Reply) -> html.HtmlElement:
    charset = reply.content_type.partition("charset=")[2]
    return html.document_fromstring(reply.body.decode(charset))


@cache
def article_tree(article: Article) -> html.HtmlElement:
    return tree_of(respond(article_path(article), BASE))


@cache
def crawl() -> dict[str, Reply]:
    """Follow every internal link from the front page, past robots.txt, and return what was answered."""
    replies: dict[str, Reply] = {}
    waiting = ["/", "/rss", "/rss/en-us", "/rss/zh-cn"]
    while waiting:
        target = waiting.pop()
        if target in replies:
            continue
        replies[target] = respond(target, BASE)
        if replies[target].content_type.startswith("text/html"):
            waiting += internal_links(target, replies[target])
        location = replies[target].headers.get("Location")
        waiting += [location.removeprefix(BASE)] if location else []
    return replies


def internal_links(target: str, reply: Reply) -> list[str]:
    addresses = tree_of(reply).xpath("//@href | //@src")
    absolute = [urljoin(BASE + target, address).partition("#")[0] for address in addresses]
    return [address.removeprefix(BASE) for address in absolute if address.startswith(BASE + "/")]


def test_the_gold_text_is_the_title_and_the_body_and_nothing_else() -> None:
    for article in ARTICLES:
        gold = gold_text(article)
        assert gold.splitlines()[0] == article.title
        assert WORDS[article.lang]["follow"] not in gold
        assert article.provider.boilerplate not in gold
        assert not any(comment.text in gold for comment in article.comments)


@pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article.id)
def test_an_article_page_holds_its_gold_text_in_order(article: Article) -> None:
    text = squeezed(article_tree(article).text_content())
    text = text[text.index(squeezed(article.title), text.index(squeezed(WORDS[article.lang]["today"]))) :]
    place = 0
    for line in gold_text(article).splitlines():
        place = text.find(squeezed(line), place)
        assert place >= 0, line


def test_some_pages_are_broken_in_every_way_and_most_are_sound() -> None:
    signs: dict[str, Callable[[str], object]] = {
        "unclosed paragraphs": lambda page: page.count("<p") > page.count("</p>") + 4,
        "misnested inline tags": lambda page: re.search(r"<b>[^<]*<i>[^<]*</b>[^<]*</i>", page),
        "upper-case tags": lambda page: "<SECTION" in page and "<section" not in page,
        "unclosed list items": lambda page: "<li>" in page and "</li>" not in page,
        "wrong charset in meta": lambda page: '<meta charset="iso-8859-1">' in page,
        "stray closing tags": lambda page: "</center>" in page and "<center" not in page,
        "duplicate attributes": lambda page: re.search(r'<section class="[^>]* class="', page),
        "bare ampersands": lambda page: "&amp;" not in page and "&ocid=" in page,
        "unclosed div": lambda page: page.count("<div") == page.count("</div>") + 1,
        "no html or body tags": lambda page: not re.search("(?i)<(html|head|body)[ >]", page),
    }
    kinds = Counter(breakage_of(article) for article in ARTICLES)
    assert set(kinds) == {None, *BREAKAGES, *signs}
    assert kinds[None] > len(ARTICLES) / 2
    for article in ARTICLES:
        page = respond(article_path(article), BASE).body.decode(charset_of(article))
        assert {name for name, shows in signs.items() if shows(page)} == {breakage_of(article)} - {None}


def test_the_same_target_gives_the_same_bytes_in_another_process() -> None:
    program = (
        "import zlib; from examples.demo_site.replies import *\n"
        f"print(*[zlib.crc32(respond(article_path(a), {BASE!r}).body) for a in articles()])"
    )
    there = run_python("-c", program, folder=ROOT).stdout
    here = [zlib.crc32(respond(article_path(article), BASE).body) for article in ARTICLES]
    assert there.split() == [str(number) for number in here]


def test_all_stories_are_reached_from_the_front_page_and_every_link_answers_as_intended() -> None:
    assert {article_path(article) for article in ARTICLES} <= set(crawl())
    assert {slideshow_path(show) for show in slideshows()} <= set(crawl())
    for target, reply in crawl().items():
        expected = next((status for sign, status in TRAPS.items() if sign in target), 200)
        assert reply.status == expected, target


def test_the_module_serves_until_interrupted() -> None:
    command = [sys.executable, "-m", "examples.demo_site.server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://[0-9.:]+", process.stdout.readline())
        try:
            assert found is not None
            assert urlopen(found[0] + "/").status == 200  # noqa: S310 - on loopback
        finally:
            process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10) == ("\n", "")
        assert process.returncode == 0


PLANTED_BASE = "https://demo.example"
NOISE = (
    *("follow", "read_more", "newsletter_text", "cookie", "copyright", "noscript", "no_comments", "share"),
    "subscribe",
    *("most_read", "related", "comments"),
)


@cache
def lines_of_texts() -> list[tuple[str, list[str]]]:
    """Return by story its language and the lines of its clean text, all others known."""
    denoiser = Denoiser("fusion")
    pages = [
        (one.lang, Page.parse(PLANTED_BASE + article_path(one), article_page(one, PLANTED_BASE)))
        for one in articles()
    ]
    for _, page in pages:
        denoiser.learn(page)
    return [(lang, denoiser.clean(page).clean_page.text.splitlines()) for lang, page in pages]


@pytest.mark.parametrize("name", NOISE)
def test_no_line_of_this_kind_is_left_where_the_site_is_known(name: str) -> None:
    words = load_json("texts.json")["words"]
    left = [line for lang, lines in lines_of_texts() for line in lines if line.startswith(words[lang][name])]
    assert left == []


def test_every_story_is_kept_whole_but_for_one_line_of_twenty() -> None:
    kept = [set(lines) for _, lines in lines_of_texts()]
    gold = [
        (number, line)
        for number, one in enumerate(articles())
        for block in one.paragraphs
        if block.kind in ("text", "quote", "heading")
        for line in block.lines
    ]
    missing = [line for number, line in gold if not any(line in text for text in kept[number])]
    assert len(missing) * 20 <= len(gold), missing
