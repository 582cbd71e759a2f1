"""Who wants no text from us, for a spider, a request, a class of items, or because all is there already."""

from pathlib import Path

import pytest

from tests.guests.guest_project import ADDON, MODES, SPIDER, Guest, addresses
from tests.guests.site import story
from tests.loopback import Served

ITEM = 'yield {"url": response.url, "text": ""}'
HTML_ITEM = 'yield {"url": response.url, "text": "", "html": response.text}'
PAGES = 8
KINDS = """

class Note(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()
    kind = scrapy.Field()


class Remark(Note):
    pass
"""


def spider(yields: str = HTML_ITEM, above: str = "") -> str:
    return SPIDER.replace("import scrapy\n", f"import scrapy\n{above}").replace(ITEM, yields)


@pytest.mark.parametrize("where", ["settings", "custom_settings", "command line"])
@pytest.mark.parametrize("mode", MODES)
def test_a_spider_without_us_is_as_if_we_were_not_there(
    mode: str, where: str, one_host: list[Served], tmp_path: Path
) -> None:
    code, settings, arguments = spider(), "", ()
    if where == "settings":
        settings = "DENOISE_ENABLED = False\n"
    elif where == "custom_settings":
        code = code.replace("custom_settings = {", 'custom_settings = {"DENOISE_ENABLED": False, ')
    else:
        arguments = ("-s", "DENOISE_ENABLED=0")
    guest = Guest(tmp_path, MODES[mode], spider=code, settings=settings)
    items = guest.run(addresses(one_host, PAGES), *arguments)
    assert [item["text"] for item in items] == [""] * PAGES, guest.log
    assert not [stat for stat in guest.stats if stat.startswith("denoise/")]
    assert not (tmp_path / ".scrapy").exists()
    assert "WARNING" not in guest.log


def test_a_request_that_opts_out_gives_its_items_at_once_and_its_page_is_not_learned(
    one_host: list[Served], tmp_path: Path
) -> None:
    code = spider(ITEM).replace(
        "yield scrapy.Request(url)", 'yield scrapy.Request(url, meta={"denoise": "page/0-1" not in url})'
    )
    guest = Guest(tmp_path, ADDON, spider=code)
    pages = addresses(one_host, 2 * PAGES)
    items = guest.run(pages, "-s", "DENOISE_WARMUP_PAGES=500")
    without = [item["url"] for item in items if not item["text"]]
    assert sorted(without) == sorted(url for url in pages if "page/0-1" in url), guest.log
    assert [item["url"] for item in items[: len(without)]] == without  # the others waited
    assert guest.stats["denoise/pages"] == guest.stats["denoise/items"] == len(pages) - len(without)
    assert guest.stats["denoise/opted_out"] == len(without)


@pytest.mark.parametrize("named", ["test_spiders.Note", "the class"])
@pytest.mark.parametrize("mode", MODES)
def test_items_of_a_class_that_is_skipped_and_of_its_subclasses_pass_as_they_are(
    mode: str, named: str, one_host: list[Served], tmp_path: Path
) -> None:
    yields = """
        for kind in (dict, Note, Remark):
            yield kind(url=response.url, html=response.text, text="", kind=kind.__name__)
"""
    code, settings = spider(yields, KINDS), 'DENOISE_SKIP_ITEMS = ["test_spiders.Note"]\n'
    if named == "the class":
        code = code.replace("custom_settings = {", 'custom_settings = {"DENOISE_SKIP_ITEMS": [Note], ')
        settings = ""
    guest = Guest(tmp_path, MODES[mode], spider=code, settings=settings)
    items = guest.run(addresses(one_host, PAGES))
    assert len(items) == 3 * PAGES, guest.log
    assert {(item["kind"], bool(item["text"])) for item in items} == {
        ("dict", True),
        ("Note", False),
        ("Remark", False),
    }
    assert guest.stats["denoise/opted_out"] == 2 * PAGES
    assert guest.stats["denoise/items"] == guest.stats["denoise/cleaned"] == PAGES
    assert "ERROR" not in guest.log


@pytest.mark.parametrize("mode", MODES)
def test_items_with_a_text_of_their_own_pass_at_once_and_unjudged_while_their_pages_are_learned(
    mode: str, one_host: list[Served], tmp_path: Path
) -> None:
    yields = HTML_ITEM.replace('"text": ""', '"text": "mine" if len(response.url) % 2 else [response.url]')
    guest = Guest(tmp_path, MODES[mode], spider=spider(yields))
    items = guest.run(addresses(one_host, PAGES))
    assert all(item["text"] in ("mine", [item["url"]]) for item in items), guest.log
    stats = guest.stats
    assert stats["denoise/own_text"] == stats["denoise/with_text"] == stats["denoise/items"] == PAGES
    assert stats["denoise/pages"] == PAGES
    assert stats["denoise/sites_ready"] == 1
    for never in ("parked", "cleaned", "characters_before", "unfilled", "seconds/judge"):
        assert f"denoise/{never}" not in stats
    assert guest.log.count("dict items have a text of their own and pass as they are") == 1


def test_an_item_with_a_text_and_another_field_to_fill_waits_and_keeps_its_text(
    one_host: list[Served], tmp_path: Path
) -> None:
    settings = 'DENOISE_EXTRA_FIELDS = {"title": "headline"}\nDENOISE_WARMUP_PAGES = 500\n'
    guest = Guest(tmp_path, ADDON, spider=spider(ITEM.replace('""', '"mine"')), settings=settings)
    items = guest.run(addresses(one_host, PAGES))
    assert {item["text"] for item in items} == {"mine"}, guest.log
    assert all(item["headline"].startswith("Story 0-") for item in items)
    assert guest.stats["denoise/cleaned"] == guest.stats["denoise/own_text"] == PAGES
    assert guest.stats["denoise/parked"] >= 1


def test_items_of_a_page_with_and_without_a_text_of_their_own_get_what_they_lack(
    one_host: list[Served], tmp_path: Path
) -> None:
    yields = """
        yield {"url": response.url, "text": "mine", "number": 0}
        yield {"url": response.url, "text": "", "number": 1}
"""
    guest = Guest(tmp_path, ADDON, spider=spider(yields))
    items = guest.run(addresses(one_host, PAGES))
    assert len(items) == 2 * PAGES, guest.log
    for item in items:
        name = item["url"].rpartition("/")[2]
        assert item["text"] == "mine" if item["number"] == 0 else story(name)[0] in item["text"]
    assert (guest.stats["denoise/own_text"], guest.stats["denoise/cleaned"]) == (PAGES, PAGES)
