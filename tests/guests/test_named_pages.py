"""Items that are made from several pages name the one that their text is of."""

import json
from pathlib import Path

import pytest

from tests.guests.guest_project import ADDON, SPIDER, Guest, addresses
from tests.guests.site import answer as page
from tests.guests.site import html, story
from tests.loopback import Answer, Served

PAGES = 9
BEGINNING = SPIDER.partition("    def parse")[0]
# A story, then what an interface says of it, then an item of both.
TWO_PAGES = (
    BEGINNING
    + """    def parse(self, response):
        url = response.url.replace("/page/", "/about/")
        yield scrapy.Request(url, self.parse_about, META, cb_kwargs={"story": response})

    def parse_about(self, response, story):
        yield {"url": story.url, "likes": response.json()["likes"], "text": ""ITEM}
"""
)
WAYS = {
    "a response in meta": ('meta={"denoise_page": response}', ""),
    "a dict in meta": ('meta={"denoise_page": {"url": response.url, "html": response.body}}', ""),
    "HTML in the item": ("meta={}", ', "html": story.text'),
}
# One answer that holds many pages.
MANY_IN_ONE = (
    BEGINNING
    + """    def parse(self, response):
        for story in response.json():
            response.meta["denoise_page"] = {"url": story["link"], "html": story["body"], "site": "stories"}
            yield {"url": story["link"], "text": ""}
"""
)


def answer(path: str) -> Answer:
    kind, _, name = path.removeprefix("/").partition("/")
    if kind == "about":
        return Answer(200, {"Content-Type": "application/json"}, b'{"likes": 7}')
    if kind == "many":
        stories = [
            {"link": f"https://stories.example/{name}-{n}", "body": html(f"{name}-{n}")} for n in range(PAGES)
        ]
        return Answer(200, {"Content-Type": "application/json"}, json.dumps(stories).encode())
    return page(path)


@pytest.mark.parametrize("way", WAYS)
def test_an_item_gets_the_text_of_the_page_that_is_named(way: str, served: Served, tmp_path: Path) -> None:
    meta, more = WAYS[way]
    guest = Guest(tmp_path, ADDON, spider=TWO_PAGES.replace("META", meta).replace("ITEM", more))
    items = guest.run(addresses([served], PAGES), "-s", "CONCURRENT_REQUESTS=1")
    assert len(items) == PAGES, guest.log
    for item in items:
        assert story(item["url"].rpartition("/")[2])[0] in item["text"]
        assert "All rights reserved" not in item["text"]
        assert item["likes"] == 7
    assert guest.stats["denoise/parked"] >= 1
    assert guest.stats["denoise/pages"] == PAGES
    assert guest.stats["denoise/with_text"] == PAGES
    assert "ERROR" not in guest.log


def test_each_page_that_is_named_in_turn_gives_its_items_their_text(served: Served, tmp_path: Path) -> None:
    guest = Guest(tmp_path, ADDON, spider=MANY_IN_ONE)
    items = guest.run([f"{served.url}/many/{name}" for name in "ab"])
    assert len(items) == 2 * PAGES, guest.log
    for item in items:
        assert story(item["url"].rpartition("/")[2])[0] in item["text"]
    assert guest.stats["denoise/pages"] == 2 * PAGES
    assert guest.stats["denoise/sites_ready"] == 1


# One answer that holds ten documents as bytes, of which the fourth names a codec that is none for text.
HOSTILE = 3
MANY_AS_BYTES = MANY_IN_ONE.replace(
    """            response.meta["denoise_page"] = {"url": story["link"], "html": story["body"], "site": "stories"}
            yield {"url": story["link"], "text": ""}
""",
    f"""            body = story["body"].encode()
            if story["link"].endswith("-{HOSTILE}"):
                body = b"<meta charset=CODEC>\\xe9" + body
            response.meta["denoise_page"] = {{"url": story["link"], "html": body, "site": "stories"}}
            for number in range(3):
                yield {{"url": story["link"], "number": number, "text": ""}}
""",
)


@pytest.mark.parametrize("codec", ["idna", "punycode", "undefined", "rot13", "zlib"])
def test_of_an_answer_with_many_documents_a_hostile_one_costs_no_item(
    codec: str, served: Served, tmp_path: Path
) -> None:
    guest = Guest(tmp_path, ADDON, spider=MANY_AS_BYTES.replace("CODEC", codec))
    items = guest.run([f"{served.url}/many/a"])
    assert len(items) == 3 * PAGES, guest.log
    for item in items:
        assert story(item["url"].rpartition("/")[2])[0] in item["text"]
    assert "denoise/failed" not in guest.stats


@pytest.mark.parametrize(
    "given", ["story", '{"url": response.url}', '{"url": response.url, "html": 7}', "[1, 2]", "'<p>A page.'"]
)
def test_what_is_no_page_is_one_error_that_says_what_to_give_and_its_items_pass(
    given: str, served: Served, tmp_path: Path
) -> None:
    given = "7" if given == "story" else given
    spider = TWO_PAGES.replace("META", f'meta={{"denoise_page": {given}}}').replace("ITEM", "")
    guest = Guest(tmp_path, ADDON, spider=spider)
    items = guest.run(addresses([served], PAGES))
    assert [item["text"] for item in items] == [""] * PAGES, guest.log
    assert guest.log.count("meta['denoise_page'] is no page") == 1
    assert guest.stats["denoise/wrong_pages"] == guest.stats["denoise/untouched"] == PAGES
    assert "denoise/failed" not in guest.stats
