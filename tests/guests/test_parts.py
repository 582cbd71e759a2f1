"""Items that are a part of their page, as its comments are, get the text of that part."""

from pathlib import Path
from typing import Any

import pytest

from tests.guests.guest_project import ADDON, PIPELINES, SPIDER, Guest
from tests.guests.site import html, story
from tests.loopback import HTML, Answer, Served

PAGES, COMMENTS = 8, 200
BY = {
    "css": '"#" + comment.attrib["id"]',
    "xpath": '"//*[@id=%r]" % comment.attrib["id"]',
    "html": "comment.get()",
}


def paragraphs(page: str, number: int) -> tuple[str, ...]:
    return story(f"comment {page} {number}")[:2]


def comment(page: str, number: int) -> str:
    one, two = paragraphs(page, number)
    return (
        f'<div class="comment" id="c{number}"><b>Reader {number}</b><p>{one}</p><p>{two}</p>'
        '<a href="/report">Report this comment</a></div>'
    )


def answer(path: str) -> Answer:
    name = path.rpartition("/")[2]
    return Answer(200, HTML, html(name, "".join(comment(name, number) for number in range(COMMENTS))).encode())


def spider(part: str, more: str = "", field: str = "denoise_part") -> str:
    yields = f"""
        for number, comment in enumerate(response.css(".comment")):
            yield {{"url": response.url, "number": number, "text": "", "{field}": {part}{more}}}
"""
    return SPIDER.replace('yield {"url": response.url, "text": ""}', yields)


def urls(served: Served, pages: int = PAGES) -> list[str]:
    return [f"{served.url}/page/{number}" for number in range(pages)]


def assert_own_texts(items: list[dict[str, Any]], expected: int) -> None:
    """Each item has text of its comment and of nothing else; hardly a paragraph of theirs was taken for noise."""
    assert len(items) == expected
    kept = 0
    for item in items:
        own = paragraphs(item["url"].rpartition("/")[2], item["number"])
        lines = item["text"].split("\n")
        assert set(lines) <= {f"Reader {item['number']}", *own, "Report this comment"}
        assert set(lines) & set(own)
        kept += len(set(lines) & set(own))
    assert kept >= 0.99 * 2 * expected


@pytest.mark.parametrize("by", BY)
def test_each_of_200_comments_gets_its_own_text_whether_it_waited_or_not(
    by: str, served: Served, tmp_path: Path
) -> None:
    guest = Guest(tmp_path, ADDON, spider=spider(BY[by]))
    items = guest.run(urls(served))
    assert_own_texts(items, PAGES * COMMENTS)
    stats = guest.stats
    assert COMMENTS <= stats["denoise/parked"] < stats["denoise/items"] == PAGES * COMMENTS
    assert stats["denoise/with_text"] == PAGES * COMMENTS
    assert "denoise/parts_missing" not in stats
    assert "ERROR" not in guest.log
    again = guest.run(urls(served))  # the site is known, and nothing waits
    assert "denoise/parked" not in guest.stats
    assert_own_texts(again, PAGES * COMMENTS)


def test_the_pipelines_give_a_part_as_well(served: Served, tmp_path: Path) -> None:
    code = spider(BY["css"], more=', "html": response.text')
    guest = Guest(tmp_path, PIPELINES, spider=code, settings='FEED_EXPORT_FIELDS = ["url", "number", "text"]\n')
    items = guest.run(urls(served))
    assert_own_texts(items, PAGES * COMMENTS)


def test_the_field_that_names_the_part_is_a_setting(served: Served, tmp_path: Path) -> None:
    guest = Guest(
        tmp_path, ADDON, spider=spider("comment.get()", field="node"), settings='DENOISE_PART_FIELD = "node"\n'
    )
    items = guest.run(urls(served, 2))
    assert_own_texts(items, 2 * COMMENTS)


def test_items_of_a_site_that_stays_short_get_their_part_too(served: Served, tmp_path: Path) -> None:
    guest = Guest(tmp_path, ADDON, spider=spider(BY["css"]))
    items = guest.run(urls(served, 2))
    assert_own_texts(items, 2 * COMMENTS)


def test_a_part_that_is_missing_is_one_warning_and_is_counted_and_its_item_goes_on_without_text(
    served: Served, tmp_path: Path
) -> None:
    wrong = '["#gone", "#c0", "div[", 7][number % 4]'
    guest = Guest(tmp_path, ADDON, spider=spider(wrong))
    items = guest.run(urls(served))
    assert len(items) == PAGES * COMMENTS, guest.log
    assert all(bool(item["text"]) == (item["number"] % 4 == 1) for item in items)
    assert guest.stats["denoise/parts_missing"] == PAGES * COMMENTS * 3 // 4
    assert guest.stats["denoise/with_text"] == PAGES * COMMENTS // 4
    assert guest.log.count("A part of a page is not found") == 1
    assert f"{PAGES * COMMENTS * 3 // 4:,} lack their part of the page" in guest.log
    assert "ERROR" not in guest.log


def test_an_item_whose_part_is_empty_gets_the_text_of_the_page(served: Served, tmp_path: Path) -> None:
    guest = Guest(tmp_path, ADDON, spider=spider('["", None][number % 2]'))
    items = guest.run(urls(served, 1))
    assert all(story("0")[0] in item["text"] for item in items), guest.log
