"""Records and values of products, in real crawls over loopback."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.article_spider import SPIDER
from tests.conftest import SETTINGS, Project, needs_new_scrapy
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
    asked = ("-s", "DENOISE_RECORDS=1")
    denoise(project.folder, "clean", "pages.jsonl", "-O", "clean.jsonl", "--workers", 2, *asked)
    lines = project.items("clean.jsonl")
    found = sorted((line["url"], record["user"], record["text"]) for line in lines for record in line["records"])
    assert found == [(url, user, text) for url, user, _, text in expected(forum)]


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
