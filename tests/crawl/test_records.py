"""Articles over several pages, records and values of products, in real crawls over loopback."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from denoise_crawler.demo.pages import article_page
from denoise_crawler.demo.replies import articles
from denoise_crawler.page import Page
from denoise_crawler.page.article_parts import part_of
from tests.article_spider import SPIDER
from tests.conftest import ADDON, SETTINGS, Project, needs_new_scrapy
from tests.loopback import HTML, Answer, serving
from tests.scrapy_process import denoise

BY_ADDON = (
    SETTINGS
    + """
ADDONS = {"denoise_crawler.Addon": 300}
DENOISE_EXTRA_FIELDS = {"author": "user", "date": "day", "page_type": "type",
    "records": "records", "fields": "fields"}
"""
)
POST = (
    "<div class=post><div class=postprofile><a class=username href=/members/{user}>{user}</a></div>"
    "<div class=postbody><p class=author>May {day}, 2024</p><div class=content>{text}</div></div></div>"
)
FORUM = (
    "<html class=phpbb><body class=viewtopic><nav><a href=/>Board index</a> <a href=/faq>FAQ</a></nav>"
    "<h1>Topic {0}: boats</h1>{1}<form><input name=reply></form><footer>Powered by a forum</footer></body></html>"
)
PRODUCT = (
    '<html><head><script type="application/ld+json">{{"@type": "Product", "sku": "L-{0}", "offers": '
    '{{"@type": "Offer", "price": "{0}.50", "priceCurrency": "EUR"}}}}</script></head><body><h1>Lamp {0}</h1>'
    "<p class=price>{0},50 €</p><p>SKU: L-{0}</p><p>Brand: Lux</p>"
    "<p>A lamp for the desk, made of wood and of brass.</p></body></html>"
)
USERS = ("Ann", "Bob", "Cem")


def text_of(topic: int, number: int) -> str:
    return f"In topic {topic} I would like to say, as number {number}, that the boats of the harbour are fine."


def answer(path: str) -> Answer:
    kind, _, number = path.strip("/").partition("/")
    if kind == "lamp":
        return Answer(200, HTML, PRODUCT.format(number).encode())
    if kind != "topic":
        return Answer(404, HTML, b"")
    topic = int(number or 0)
    posts = "".join(
        POST.format(user=user, day=place + 2, text=text_of(topic, place)) for place, user in enumerate(USERS)
    )
    links = "".join(f"<a href=/topic/{other}>Topic {other}</a>" for other in range(8)) if not number else ""
    return Answer(200, HTML, FORUM.format(topic, posts + links).encode())


@pytest.fixture
def forum(project: Project) -> Iterator[str]:
    with serving(answer) as served:
        project.write("project_settings.py", BY_ADDON)
        project.spider(SPIDER, [f"{served.url}/topic/{number}" for number in range(8)])
        yield served.url


def sorted_items(items: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return sorted((item["url"], item["user"], item["day"], item["text"]) for item in items)


def expected(url: str) -> list[tuple[str, ...]]:
    return sorted(
        (f"{url}/topic/{topic}", user, f"2024-05-0{place + 2}", text_of(topic, place))
        for topic in range(8)
        for place, user in enumerate(USERS)
    )


def test_an_item_has_the_records_of_its_page(project: Project, forum: str) -> None:
    items = project.crawl("articles", "-s", "DENOISE_RECORDS=1")
    assert [item["type"] for item in items] == ["forum"] * 8
    found = sorted((item["url"], record["user"], record["text"]) for item in items for record in item["records"])
    assert found == [(url, user, text) for url, user, _, text in expected(forum)]


@pytest.mark.parametrize("pages", [0, 4, 500], ids=["none wait", "some wait", "all wait"])
def test_by_record_each_item_becomes_one_for_each_post(project: Project, forum: str, pages: int) -> None:
    items = project.crawl("articles", "-s", "DENOISE_BY_RECORD=1", "-s", f"DENOISE_WARMUP_PAGES={pages}")
    assert sorted_items(items) == expected(forum)
    assert project.stats["denoise/items"] == project.stats["item_scraped_count"] == 24
    assert "denoise/failed" not in project.stats


@needs_new_scrapy
def test_the_site_spider_yields_a_page_for_each_post(project: Project, forum: str) -> None:
    items = project.crawl("site", "-a", f"start_url={forum}/topic", "-s", "DENOISE_BY_RECORD=1")
    found = sorted((item["url"], item["author"], item["date"], item["text"]) for item in items)
    assert [one for one in found if one[0] != f"{forum}/topic"] == expected(forum)


def test_without_the_settings_nothing_is_added(project: Project, forum: str) -> None:
    items = project.crawl("articles")
    assert [(item["records"], item["fields"]) for item in items] == [(None, None)] * 8
    assert forum


def test_values_of_products_have_names(project: Project, forum: str) -> None:
    project.write("urls.json", json.dumps([f"{forum}/lamp/{number}" for number in range(3, 9)]))
    items = project.crawl("articles", "-s", "DENOISE_FIELDS=1")
    found = {item["url"].rpartition("/")[2]: item["fields"] for item in items}
    assert found == {
        f"{number}": {"price": f"{number}.50", "currency": "EUR", "sku": f"L-{number}", "brand": "Lux"}
        for number in range(3, 9)
    }


def test_pages_on_disk_have_them_too(project: Project, forum: str) -> None:
    pages = [
        {"url": f"{forum}/topic/{number}", "html": answer(f"/topic/{number}").body.decode()} for number in range(8)
    ]
    project.write("pages.jsonl", "\n".join(map(json.dumps, pages)))
    for seen in (None, True):
        asked = ("-s", "DENOISE_RECORDS=1", "-s", "DENOISE_CHANGES=mark")
        denoise(project.folder, "clean", "pages.jsonl", "-O", "clean.jsonl", "--workers", 2, *asked)
        lines = project.items("clean.jsonl")
        assert [line["unchanged"] for line in lines] == [seen] * 8
    found = sorted((line["url"], record["user"], record["text"]) for line in lines for record in line["records"])
    assert found == [(url, user, text) for url, user, _, text in expected(forum)]


JOINING = """
ITEM_PIPELINES = {"denoise_crawler.pipelines.ArticlePartsPipeline": 300, "counting.Counting": 400}
"""
COUNTING = """
class Counting:
    def process_item(self, item):
        item["passed"] = item.get("passed", 0) + 1
        return item
"""
FOLLOWING = """
import scrapy
from denoise_crawler.pipelines import following_part

class FollowingSpider(scrapy.Spider):
    name = "following"
    custom_settings = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 1}

    def parse(self, response):
        yield {"url": response.url}
        if address := following_part(response):
            yield response.follow(address)
"""
TITLE = "How the harbour was built"
ENGLISH = [article for article in articles() if article.lang == "en"]
PARTS, OTHERS = ENGLISH[:3], ENGLISH[3:11]
STORY = ["/story", "/story?page=2", "/story?page=3"]


def part(number: int, base: str) -> str:
    """Return a part of one article: the text of another story of the bundled site below its headline."""
    found = article_page(PARTS[number], base).replace(PARTS[number].title, TITLE)
    links = [f'<link rel="next" href="{STORY[number + 1]}">'] if number < 2 else []
    links += [f'<link rel="prev" href="{STORY[number - 1]}">'] if number else []
    return found.replace("</head>", "".join(links) + "</head>")


def listing(number: int) -> str:
    rows = "".join(
        f"<li><h2><a href='/s{number}{row}'>Headline {row} of page {number}</a></h2><p>It says {row}.</p></li>"
        for row in range(30)
    )
    follows = f'<link rel="next" href="/list?page={number + 1}">'
    return f"<html><head><title>All stories</title>{follows}</head><body><ul>{rows}</ul></body></html>"


@contextmanager
def site() -> Iterator[str]:
    """Serve an article of three parts, other articles and a list of two pages."""
    base = "https://ledger.example"
    bodies = {path: part(number, base) for number, path in enumerate(STORY)}
    bodies |= {f"/other-{number}": article_page(article, base) for number, article in enumerate(OTHERS)}
    bodies |= {"/list": listing(1), "/list?page=2": listing(2)}
    with serving(lambda path: Answer(200, HTML, bodies[path].encode())) as served:
        yield served.url


@pytest.fixture
def crawls(project: Project) -> Project:
    project.write("project_settings.py", SETTINGS + ADDON + JOINING)
    project.write("counting.py", COUNTING)
    project.write("test_spiders.py", SPIDER + FOLLOWING)
    return project


def crawl(project: Project, base: str, paths: list[str], *arguments: str) -> dict[str, dict[str, Any]]:
    """Crawl pages in order; return the items by path."""
    project.write("urls.json", json.dumps([base + path for path in paths]))
    items = project.crawl("articles", "-s", "DOWNLOAD_DELAY=0", *arguments)
    assert {item["passed"] for item in items} == {1}
    found = {item["url"].removeprefix(base): item for item in items}
    assert len(found) == len(items)
    return found


ALL = [f"/other-{number}" for number in range(len(OTHERS))]
LAST_LINES = [article.paragraphs[-1].lines[0][:40] for article in PARTS]


def assert_joined(text: str) -> None:
    """Check that a text holds all parts, in order, with one headline."""
    places = [text.find(line) for line in LAST_LINES]
    assert -1 < places[0] < places[1] < places[2], text
    assert text.count(TITLE) == 1


@pytest.mark.parametrize(
    "story", [STORY, STORY[::-1], [STORY[1], STORY[2], STORY[0]]], ids=["in order", "backwards", "first last"]
)
@pytest.mark.parametrize("place", [0, 4, 8], ids=["waits", "ends the warm-up", "known site"])
def test_parts_are_joined_into_the_item_of_the_first_in_whatever_order_they_come(
    crawls: Project, story: list[str], place: int
) -> None:
    with site() as base:
        items = crawl(crawls, base, [*ALL[:place], *story, *ALL[place:], "/list", "/list?page=2"])
    assert set(items) == {STORY[0], *ALL, "/list", "/list?page=2"}
    assert_joined(items[STORY[0]]["text"])
    assert not any(line in items[path]["text"] for path in ALL for line in LAST_LINES)
    assert (crawls.stats["denoise/articles_joined"], crawls.stats["denoise/parts_joined"]) == (1, 2)
    assert "denoise/parts_apart" not in crawls.stats


def test_a_spider_follows_the_parts_of_its_articles(crawls: Project) -> None:
    with site() as base:
        crawls.write(
            "test_spiders.py",
            SPIDER + FOLLOWING + f"    start_urls = {[base + path for path in [*ALL, STORY[0]]]!r}\n",
        )
        crawled = crawls.crawl("following")
    items = {item["url"].removeprefix(base): item for item in crawled}
    assert set(items) == {STORY[0], *ALL}
    assert_joined(items[STORY[0]]["text"])


@pytest.mark.parametrize(
    ("fetched", "out"),
    [
        ([STORY[0], STORY[1]], [STORY[0]]),
        ([STORY[1], STORY[2]], [STORY[1], STORY[2]]),
        ([STORY[0], STORY[2]], [STORY[0], STORY[2]]),
    ],
    ids=["without the last", "without the first", "without the middle"],
)
def test_parts_whose_neighbours_never_come_go_on_when_the_crawl_ends(
    crawls: Project, fetched: list[str], out: list[str]
) -> None:
    with site() as base:
        items = crawl(crawls, base, [*ALL, *fetched])
    assert set(items) == {*ALL, *out}
    texts = "".join(item["text"] for item in items.values())
    numbers = [STORY.index(path) for path in fetched]
    assert all(texts.count(LAST_LINES[number]) == 1 for number in numbers)


@pytest.mark.parametrize("kept", ["", "-s JOBDIR=job"], ids=["", "job"])
def test_after_ctrl_c_no_part_is_lost(crawls: Project, kept: str) -> None:
    with site() as base:
        paths = [*ALL[:6], STORY[0], STORY[1], *ALL[6:], STORY[2]]
        crawls.write("urls.json", json.dumps([base + path for path in paths]))

        def is_held() -> bool:
            return (crawls.folder / "crawl.log").read_text().count("held as a part of an article") >= 2

        slow = ("-s", "DOWNLOAD_DELAY=0.5", "-s", "LOG_LEVEL=DEBUG", *kept.split())
        items = crawls.interrupted("articles", *slow, when=is_held, by=signal.SIGINT)
        count = Counter(item["url"].removeprefix(base) for item in items)
        assert count[STORY[0]] == 1
        assert count[STORY[1]] == 0
        [text] = [item["text"] for item in items if item["url"] == base + STORY[0]]
        assert all(line in text for line in LAST_LINES[:2])
        if kept:  # what the first run did not fetch comes in the second
            items = crawls.crawl("articles", *slow)
            count = Counter(item["url"].removeprefix(base) for item in items)
            assert count == Counter([*ALL, STORY[0], STORY[2]])


def test_after_kill_9_parts_that_had_waited_come_out_in_the_next_run(crawls: Project) -> None:
    with site() as base:
        paths = [STORY[0], STORY[1], *ALL]
        crawls.write("urls.json", json.dumps([base + path for path in paths]))

        def is_held() -> bool:
            return (crawls.folder / "crawl.log").read_text().count("held as a part of an article") >= 2

        slow = ("-s", "DOWNLOAD_DELAY=0.3", "-s", "LOG_LEVEL=DEBUG")
        process = crawls.start("articles", *slow)
        while not is_held():
            assert process.poll() is None
        process.kill()
        process.wait(60)
        crawls.write("urls.json", json.dumps([base + path for path in ALL[6:]]))
        items = crawls.crawl("articles", "-s", "DOWNLOAD_DELAY=0")  # what the first run wrote may come again
    [*_, text] = [item["text"] for item in items if item["url"] == base + STORY[0]]
    assert all(line in text for line in LAST_LINES[:2])


def answer_with_comments(path: str) -> Answer:
    """Answer with the same article on both pages, and other comments."""
    said = f"<p>A comment on page {path[-1]}, of a reader who liked the story a lot.</p>"
    link = '<link rel="next" href="/story?page=2">' if path == "/story" else '<link rel="prev" href="/story">'
    html = article_page(PARTS[0], "https://ledger.example").replace("</p>", f"</p>{said}", 1)
    return Answer(200, HTML, html.replace("</head>", f"{link}</head>").encode())


def test_a_second_page_that_repeats_the_first_is_no_part_of_it(crawls: Project) -> None:
    with serving(answer_with_comments) as served:
        items = crawl(crawls, served.url, STORY[:2])
    assert set(items) == set(STORY[:2])
    assert all(item["text"].count(LAST_LINES[0]) == 1 for item in items.values())
    assert crawls.stats["denoise/parts_apart"] == 1


@pytest.mark.parametrize(
    ("url", "following", "number"),
    [
        ("https://a.example/story", "/story?page=2", 1),
        ("https://a.example/story/", "/story/2", 1),
        ("https://a.example/story.html", "story_2.html", 1),
        ("https://a.example/story/seite-2", "/story/seite-3", 2),
        ("https://a.example/story?id=7&p=3", "?id=7&p=4", 3),
        ("https://a.example/2026/11/24/rain", "/2026/11/25/sun", None),
        ("https://a.example/day-1", "/day-2", None),
        ("https://a.example/story", "https://b.example/story?page=2", None),
        ("https://a.example/story", "/story?page=3", None),
        ("https://a.example/story", "http://[", None),
    ],
)
def test_the_next_part_has_the_same_address_but_for_its_number(
    url: str, following: str, number: int | None
) -> None:
    for link in (
        f'<link href="{following}" rel="Next">',
        f'<body><a rel="nofollow next" href="{following}">on</a>',
    ):
        found = part_of(Page.parse(url, f"<html>{link}"))
        assert (found.number if found else None) == number


PAGE = b"""<title>Cranes</title><meta name=description content="Two cranes.">
<meta name=keywords content="port,cranes"><meta property="og:image" content="/crane.jpg">
<p>Two cranes stand on the quay and lift what the ships bring."""
METADATA_SPIDER = """
import scrapy

class One(scrapy.Spider):
    name = "one"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
"""


def test_items_get_the_metadata_that_the_settings_name(project: Project) -> None:
    project.write("test_spiders.py", METADATA_SPIDER)
    fields = '{"description": "about", "tags": "topics", "image": "picture", "modified": "changed"}'
    with serving(lambda _: Answer(200, HTML, PAGE)) as (url, _):
        [item] = project.crawl("one", "-a", f"url={url}/", "-s", f"DENOISE_EXTRA_FIELDS={fields}")
    assert (item["about"], item["topics"]) == ("Two cranes.", ["port", "cranes"])
    assert (item["picture"], item["changed"]) == (f"{url}/crane.jpg", None)


@needs_new_scrapy
def test_the_items_of_our_spiders_get_it_where_it_is_asked_for(project: Project) -> None:
    with serving(lambda path: Answer(404 if "robots" in path else 200, HTML, PAGE)) as (url, _):
        given = ("-a", f"start_url={url}/")
        [plain] = project.crawl("site", *given)
        [asked] = project.crawl("site", *given, "-s", "DENOISE_MORE_METADATA=1", feed="asked.jsonl")
    assert (plain["description"], asked["description"]) == (None, "Two cranes.")
    assert (plain["tags"], asked["tags"]) == (None, ["port", "cranes"])
