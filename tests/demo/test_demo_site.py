"""The demo site: traps, feeds, server; what it plants in its stories and what is left of it."""

import json
import re
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import cache
from http.client import HTTPConnection, HTTPMessage
from subprocess import PIPE
from urllib.parse import urljoin, urlsplit

import pytest
from lxml import etree, html

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.page import Page
from examples.demo_site.articles import WORDS, Slideshow, load_json, slideshow_path, slideshows
from examples.demo_site.pages import BREAKAGES, article_page, breakage_of, charset_of
from examples.demo_site.replies import Article, Reply, article_path, articles, gold_text, respond
from examples.demo_site.server import DemoServer
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


@pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article.id)
def test_an_article_page_holds_the_noise_of_a_portal(article: Article) -> None:
    text = squeezed(article_tree(article).text_content())
    words = WORDS[article.lang]
    furniture = "skip today login ad share newsletter most_read related comments follow read_more cookie copyright"
    assert all(squeezed(words[name]) in text for name in furniture.split())
    assert all(squeezed(comment.text) in text for comment in article.comments)


def test_boilerplate_stands_inside_the_body_and_the_canonical_link_points_away() -> None:
    for article in ARTICLES:
        (body,) = article_tree(article).xpath("//article/section[starts-with(@class, 'articlebody')]")
        assert WORDS[article.lang]["follow"] in body.text_content()
        assert body.find_class("ad-slot")
        assert article_tree(article).xpath('//link[@rel="canonical"]/@href') == [article.source_url]


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


def test_pages_set_their_traps() -> None:
    path = article_path(ARTICLES[0])
    links = article_tree(ARTICLES[0]).xpath("//a/@href")
    signs = [f"{path}?utm_source=share&ocid=", f"{path}#comments", "http://example.com/partners", ".pdf", ".svg"]
    for sign in [*signs, "/private/", *TRAPS]:
        assert any(sign in link for link in links), sign


def test_a_tracked_address_gives_the_same_page_and_an_old_one_redirects() -> None:
    path = article_path(ARTICLES[5])
    assert respond(f"{path}?utm_source=share&ocid=HL123", BASE) == respond(path, BASE)
    reply = respond(f"/archive/{ARTICLES[5].id}", BASE)
    assert (reply.status, reply.headers) == (301, {"Location": BASE + path})


def test_lists_end_after_their_last_page() -> None:
    for path in ("/", "/en-us", "/zh-cn", "/en-us/world", "/zh-cn/sport"):
        assert respond(f"{path}?page=2", BASE).status == 200
        for page in ("9", "0", "-1", "x"):
            assert respond(f"{path}?page={page}", BASE).status == 404


@pytest.mark.parametrize(
    "target", ["/nothing", "/en-us/weather", "/ar-ae/news", "/en-us/world/a/ar-", "//[", "/%"]
)
def test_unknown_addresses_are_not_found_but_look_like_the_site(target: str) -> None:
    reply = respond(target, BASE)
    assert reply.status == 404
    assert WORDS["en"]["missing"] in tree_of(reply).text_content()
    assert WORDS["en"]["copyright"] in tree_of(reply).text_content()


def test_the_shell_page_holds_no_word_of_the_story() -> None:
    article = ARTICLES[0]
    tree = tree_of(respond("/shell" + article_path(article), BASE))
    assert tree.findtext(".//title") == "MSN"
    assert len(tree.xpath("//script")) > 20
    assert tree.xpath("normalize-space(string(//body))") == ""
    assert respond("/shell/en-us/world/none/ar-AA0gone", BASE).status == 404


@pytest.mark.parametrize("target", ["/rss", "/rss/en-us", "/rss/zh-cn"])
def test_feeds_are_well_formed_and_their_links_resolve(target: str) -> None:
    locale = target.rpartition("/")[2]
    expected = [article for article in ARTICLES if locale in ("rss", article.locale)]
    feed = etree.fromstring(respond(target, BASE).body)
    assert feed.get("version") == "2.0"
    links = [link.text or "" for link in feed.iterfind("channel/item/link")]
    assert {link.partition("?")[0] for link in links} == {BASE + article_path(article) for article in expected}
    assert all(respond(link.removeprefix(BASE), BASE).status == 200 for link in links)
    assert len(feed.findall("channel/item/pubDate")) == len(feed.findall("channel/item/title")) == len(links)


@pytest.mark.parametrize("article", ARTICLES[::9], ids=lambda article: article.id)
def test_the_detail_api_gives_an_article_with_its_providers_boilerplate(article: Article) -> None:
    answer = json.loads(respond(f"/content/view/v2/Detail/{article.locale}/{article.id}", BASE).body)
    body: html.HtmlElement = html.document_fromstring(answer["body"])
    text = squeezed(body.text_content())
    assert all(squeezed(line) in text for line in gold_text(article).splitlines()[1:])
    assert squeezed(article.provider.boilerplate) in text
    assert answer["type"] == "article"
    assert (answer["id"], answer["title"], answer["abstract"]) == (article.id, article.title, article.abstract)
    assert answer["provider"] == {"id": article.provider.id, "name": article.provider.name}
    assert answer["authors"] == [{"name": article.author}]
    assert answer["createdDateTime"] <= answer["publishedDateTime"] <= answer["updatedDateTime"]
    assert answer["sourceHref"] == answer["seo"]["canonicalUrl"] == article.source_url
    assert set(answer["imageResources"][0]) == {"url", "width", "height", "caption", "attribution", "cmsId"}
    assert answer["slides"] == []


@pytest.mark.parametrize("show", slideshows(), ids=lambda show: show.id)
def test_the_detail_api_gives_slideshows(show: Slideshow) -> None:
    answer = json.loads(respond(f"/content/view/v2/Detail/{show.locale}/{show.id}", BASE).body)
    assert answer["type"] == "slideshow"
    assert [slide["title"] for slide in answer["slides"]] == [title for title, _ in show.slides]
    assert all(set(slide) == {"title", "body", "image"} for slide in answer["slides"])
    assert respond(urlsplit(answer["slides"][0]["image"]["url"]).path, BASE).status == 200


def test_the_detail_api_refuses_unknown_ids_and_locales() -> None:
    assert respond("/content/view/v2/Detail/en-us/AA0gone", BASE).status == 410
    assert respond(f"/content/view/v2/Detail/xx-yy/{ARTICLES[0].id}", BASE).status == 400


def fetch(url: str, method: str = "GET") -> tuple[int, HTTPMessage, bytes]:
    """Return the status, headers and body of one request, redirects not followed."""
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.netloc, timeout=10)) as connection:
        connection.request(method, url.partition(parts.netloc)[2])
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def status_of(url: str) -> int:
    return fetch(url)[0]


def test_the_server_serves_the_site_and_records_the_requests() -> None:
    path = article_path(ARTICLES[0])
    with DemoServer() as server:
        assert fetch(server.url + path)[2] == respond(path, server.url).body
        assert status_of(server.url + "/nothing") == 404
        assert fetch(f"{server.url}/archive/{ARTICLES[0].id}")[1]["Location"] == server.url + path
        assert [target for _, target in server.requests] == [path, "/nothing", f"/archive/{ARTICLES[0].id}"]
        assert server.requests[0][0] <= server.requests[-1][0] <= time.monotonic()


def test_head_gives_the_length_without_the_body_and_nothing_at_the_detail_api() -> None:
    with DemoServer() as server:
        status, headers, body = fetch(server.url + "/", "HEAD")
        assert (status, body) == (200, b"")
        assert headers["Content-Length"] == str(len(respond("/", server.url).body))
        assert fetch(f"{server.url}/content/view/v2/Detail/en-us/{ARTICLES[0].id}", "HEAD")[0] == 404


def test_the_gb18030_page_decodes_by_its_header() -> None:
    (article,) = (article for article in ARTICLES if charset_of(article) == "gb18030")
    with DemoServer() as server:
        _, headers, body = fetch(server.url + article_path(article))
    assert headers.get_content_charset() == "gb18030"
    assert article.title in body.decode("gb18030")
    assert article.title.encode() not in body
    assert b'<meta charset="gb18030">' in body


def test_robots_txt_closes_the_private_part() -> None:
    with DemoServer() as server:
        assert fetch(server.url + "/robots.txt")[2] == b"User-agent: *\nDisallow: /private/\nAllow: /\n"


def test_the_module_serves_until_interrupted() -> None:
    command = [sys.executable, "-m", "examples.demo_site.server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://[0-9.:]+", process.stdout.readline())
        try:
            assert found is not None
            assert status_of(found[0] + "/") == 200
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
