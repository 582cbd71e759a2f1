"""The MSN spider, in real crawls over loopback: detail mode, HTML mode, and what goes wrong in both."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler.errors import BadArgumentError
from denoise_crawler.spiders.msn_news import MsnNewsSpider, article_id, detail_url_of, read_detail
from tests.spiders.test_spiders_loopback import HTML, Crawl, Pages, crawl, repeated, serving

SHELL = b"<html><head><title>MSN</title></head><body><div id=root></div><script>go()</script></body></html>"


def article(**changes: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": "AA1",
        "type": "article",
        "title": "Rain & <wind>",
        "abstract": "Short.",
        "body": "<p>It rained.</p>",
        "provider": {"id": "BB0", "name": "The Demo Times"},
        "authors": [{"name": "Ada Author"}, {"name": None}, "nobody"],
        "publishedDateTime": "2024-05-01T10:00:00Z",
        "seo": {"canonicalUrl": "https://cnn.test/original"},
    }
    return {**record, **changes}


DETAILS: dict[str, object] = {
    "AA1": article(),
    "SS1": article(
        type="slideshow",
        body="",
        slides=[{"title": "One <1>", "body": "<p>First slide.</p>"}, None, {"title": ["x"], "body": None}],
    ),
    "VI1": article(type="video", body="<p>A transcript of thirty-one signs</p>", provider=None, authors=None),
    "WC1": article(type="webcontent", body=""),
    "ODD1": article(provider=["x"], authors={"name": "x"}, publishedDateTime=7, title=None, slides="x"),
    "BAD1": b'{"id": "BAD1", "body": ',
    "BAD2": ["a", "list"],
    "BAD3": article(body={"html": "x"}),
    "BAD4": b"[" * 100_000,
}
SHOWN = ["AA1", "ODD1", "SS1", "VI1"]


def detail_site() -> Pages:
    pages = Pages()
    links = [f"/en-us/news/story/{kind}-{number}" for kind, number in zip(_kinds(), DETAILS, strict=True)]
    items = "".join(f"<item><title>t</title><link>{link}?ocid=rss</link></item>" for link in links)
    feed = f'<?xml version="1.0"?><rss version="2.0"><channel><link>/</link>{items}{items}</channel></rss>'
    pages.answers["/rss/en-us"] = (200, {"Content-Type": "application/rss+xml"}, feed.encode())
    for number, record in DETAILS.items():
        pages.json(f"/detail/en-us/{number}", record)
    pages.html(
        "/section",
        *("/de-de/nachrichten/x/ar-DE1", "/en-us/other-place/ar-AA1", "/ar-ae/news", "/en-us/x/gm-GM1"),
        "https://www.msn.com/en-us/news/y/ar-WWW1",
        "https://evil.test/ar-EVIL",
        "/short",
        "/en-us/x/ar-OUT1",
    )
    pages.status("/short", 301, Location="/en-us/old/ar-OLD1")
    pages.answers["/en-us/old/ar-OLD1"] = (200, HTML, SHELL)
    pages.json("/detail/en-us/OLD1", article())
    pages.html("/ar-ae/news", "/en-us/x/ar-GONE1")
    pages.json("/detail/de-de/DE1", article(provider={"name": "Süddeutsche Zeitung"}))
    pages.json("/detail/en-us/WWW1", article())
    pages.status("/detail/en-us/GM1", 410)
    pages.status("/detail/en-us/OUT1", 302, Location="http://evil.test/")
    return pages


def _kinds() -> list[str]:
    return ["ss" if number == "SS1" else "vi" if number == "VI1" else "ar" for number in DETAILS]


@pytest.fixture(scope="module")
def details(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Pages, Crawl]]:
    with serving(detail_site()) as pages:
        template = pages.url + "/detail/{locale}/{id}"
        starts = f"{pages.url}/rss/en-us {pages.url}/section,{pages.url}/en-us/given/ar-AA1"
        folder = tmp_path_factory.mktemp("details")
        yield pages, crawl(folder, "msn_news", start_url=starts, detail_url=template)


def test_each_article_of_feed_section_and_argument_is_asked_for_once(details: tuple[Pages, Crawl]) -> None:
    pages, _ = details
    assert repeated(pages.asked) == []
    wanted = {
        *(f"/detail/en-us/{number}" for number in (*DETAILS, "WWW1", "GM1", "GONE1", "OLD1", "OUT1")),
        "/detail/de-de/DE1",
    }
    assert {path for path in pages.asked if path.startswith("/detail")} == wanted


def test_a_detail_that_redirects_to_another_host_is_not_followed(details: tuple[Pages, Crawl]) -> None:
    assert "'offsite/filtered': 1" in details[1].log
    assert details[1].stat("msn/failed/dns") == 0


def test_articles_slideshows_and_videos_become_items(details: tuple[Pages, Crawl]) -> None:
    _, ended = details
    found = sorted(article_id(item["url"]) for item in ended.items)
    assert found == sorted([*SHOWN, "DE1", "OLD1", "WWW1"])
    assert ended.stat("msn/pages") == len(found)
    assert {item["source"] for item in ended.items} == {"detail"}


def by_id(ended: Crawl, wanted: str) -> dict[str, Any]:
    return next(item for item in ended.items if article_id(item["url"]) == wanted)


def test_an_item_says_what_its_publisher_says(details: tuple[Pages, Crawl]) -> None:
    item = by_id(details[1], "AA1")
    assert item["title"] == "Rain & <wind>"
    assert (item["provider"], item["site"]) == ("The Demo Times", "msn.com/bb0")
    assert (item["authors"], item["published"]) == (["Ada Author"], "2024-05-01T10:00:00Z")
    assert "<h1>Rain &amp; &lt;wind&gt;</h1>\n<p>It rained.</p>" in item["text"]
    assert "cnn.test" not in str(details[1].items)
    assert by_id(details[1], "DE1")["site"] == "msn.com/süddeutsche-zeitung"


def test_slides_are_part_of_the_text(details: tuple[Pages, Crawl]) -> None:
    text = by_id(details[1], "SS1")["text"]
    assert "<h2>One &lt;1&gt;</h2><p>First slide.</p>" in text
    assert text.count("<section>") == 1


def test_fields_of_unexpected_types_count_as_absent(details: tuple[Pages, Crawl]) -> None:
    item = by_id(details[1], "ODD1")
    assert (item["title"], item["provider"], item["authors"], item["published"]) == ("", None, [], None)
    assert item["site"] == "msn.com/unknown"


def test_gone_malformed_and_textless_articles_are_counted_and_skipped(details: tuple[Pages, Crawl]) -> None:
    pages, ended = details
    assert ended.stat("msn/gone") == 2
    assert ended.stat("msn/malformed") == 4
    assert ended.stat("msn/no_text") == 1
    for number in ("BAD1", "BAD2", "BAD3", "BAD4"):
        assert f"no article from {pages.url}/detail/en-us/{number}:" in ended.log
    assert "it has no text" in ended.log
    assert "Traceback" not in ended.log
    assert ended.errors == []


def html_site() -> Pages:
    pages = Pages()
    pages.html("/", "/news", "/news/a/ar-A1", "/paper.pdf", "http://other.test/ar-X")
    pages.html("/news", "/news/b/ar-B2#top", "/news/b/ar-B2?ocid=x", "/news/shell/ar-S1", "/news/gone/ar-G1")
    pages.html("/news/a/ar-A1", "/news/c/vi-C3", head='<link rel="canonical" href="http://cnn.test/">')
    pages.html("/news/b/ar-B2")
    pages.html("/news/c/vi-C3", "/")
    pages.answers["/news/shell/ar-S1"] = (200, HTML, SHELL)
    feed = "<rss><channel><item><guid>/news/b/ar-B2</guid></item><item><link>/news/c/vi-C3</link></item>"
    pages.answers["/rss"] = (200, {"Content-Type": "text/html"}, feed.encode())
    return pages


def test_in_html_mode_articles_are_items_and_sections_only_give_links(tmp_path: Path) -> None:
    with serving(html_site()) as pages:
        ended = crawl(tmp_path, "msn_news", start_url=pages.url, detail_url="")
    assert sorted(ended.paths) == ["/news/a/ar-A1", "/news/b/ar-B2", "/news/c/vi-C3"]
    assert {(item["source"], item["site"]) for item in ended.items} == {("html", "")}
    assert repeated(pages.asked) == []
    assert "/paper.pdf" not in pages.asked
    assert (ended.stat("msn/shell"), ended.stat("msn/gone"), ended.errors) == (1, 1, [])
    assert f"{pages.url}/news/shell/ar-S1 is an empty shell" in "".join(ended.warnings)
    assert "detail interface" in "".join(ended.warnings)


def test_a_feed_without_a_feeds_content_type_is_read_as_a_feed(tmp_path: Path) -> None:
    with serving(html_site()) as pages:
        ended = crawl(tmp_path, "msn_news", start_url=pages.url + "/rss", detail_url="")
        assert len(ended.items) == 3
        limited = crawl(tmp_path, "msn_news", start_url=pages.url + "/rss", detail_url="", max_pages=2)
    assert sorted(limited.paths) == ["/news/b/ar-B2", "/news/c/vi-C3"]


def test_a_start_without_links_or_answer_is_told_in_one_clear_error(tmp_path: Path) -> None:
    pages = Pages()
    pages.answers["/"] = (200, HTML, SHELL)
    pages.answers["/empty"] = (200, {"Content-Type": "text/xml"}, b"<rss><channel></channel></rss>")
    with serving(pages):
        starts = f"{pages.url}/ {pages.url}/empty {pages.url}/nothing"
        ended = crawl(tmp_path, "msn_news", start_url=starts, detail_url=pages.url + "/{id}")
    assert ended.items == []
    assert len(ended.errors) == 3
    assert f"no link to an article or a section on the start page {pages.url}/:" in ended.log
    assert f"no link to an article or a section on the start page {pages.url}/empty:" in ended.log
    assert f"the start page {pages.url}/nothing could not be read (http_404)" in ended.log


@pytest.mark.parametrize("status", [403, 429])
def test_a_detail_host_that_refuses_is_given_up_after_three_answers(status: int, tmp_path: Path) -> None:
    with serving(Pages()) as api, serving(Pages()) as pages:
        pages.html("/", *[f"/en-us/x/ar-A{number}" for number in range(20)])
        for number in range(20):
            api.status(f"/en-us/A{number}", status)
        template = api.url + "/{locale}/{id}"
        ended = crawl(tmp_path, "msn_news", start_url=pages.url, detail_url=template)
    assert len(api.asked) == 3
    assert ended.stat("msn/hosts_given_up") == 1
    assert sum("refuses to serve us" in warning for warning in ended.warnings) == 1
    assert "'finish_reason': 'refused'" in ended.log


def test_a_resumed_job_asks_for_no_article_twice(tmp_path: Path) -> None:
    job = f"JOBDIR={tmp_path / 'job'}"
    with serving(detail_site()) as pages:
        arguments = {"start_url": pages.url + "/rss/en-us", "detail_url": pages.url + "/detail/{locale}/{id}"}
        first = crawl(tmp_path, "msn_news", job, "CLOSESPIDER_ITEMCOUNT=1", **arguments)
        second = crawl(tmp_path, "msn_news", job, **arguments)
    assert repeated(pages.asked) == []
    assert sorted(article_id(item["url"]) for item in first.items + second.items) == SHOWN
    assert first.items
    assert second.items


def test_an_article_link_is_known_by_its_whole_last_segment() -> None:
    assert article_id("https://www.msn.com/en-us/news/world/title/ar-AA1xYz?ocid=1#c") == "AA1xYz"
    assert article_id("https://www.msn.com/en-us/news/title/ss-BB1/") == "BB1"
    for other in ("/ar-ae/news", "/en-us/news/ar-AA1/comments", "/en-us/star-AA1", "/ar-", "http://[x/ar-1"):
        assert article_id(other) == ""


def test_an_articles_own_locale_goes_before_the_argument() -> None:
    template = "http://api.test/{locale}/{id}"
    assert detail_url_of(template, "https://www.msn.com/zh-cn/news/x/ar-A1", "en-us").endswith("/zh-cn/A1")
    assert detail_url_of(template, "https://www.msn.com/news/x/ar-A1", "en-us").endswith("/en-us/A1")


@given(
    st.dictionaries(
        st.sampled_from(["body", "title", "type", "provider", "authors", "slides", "publishedDateTime"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda inner: (
                st.lists(inner) | st.dictionaries(st.sampled_from(["id", "name", "title", "body"]), inner)
            ),
            max_leaves=8,
        ),
    )
)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_json_is_read_or_refused_with_a_value_error(record: dict[str, object]) -> None:
    body = json.dumps(record).encode()
    if isinstance(record.get("body"), str | None):
        assert read_detail(body, "", "en-us")[0].site.startswith("msn.com/")
    else:
        with pytest.raises(ValueError, match="body is not a text"):
            read_detail(body, "", "en-us")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("locale", "english"),
        ("detail_url", "ftp://x/{id}"),
        ("detail_url", "https://{id}.x/"),
        ("start_url", "msn.com"),
        ("start_url", "file:///etc/passwd"),
        ("max_pages", "all"),
    ],
)
def test_bad_arguments_are_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(BadArgumentError, match=f"^{name}="):
        MsnNewsSpider(**{name: value})


def test_without_a_start_the_locales_feed_is_read() -> None:
    assert MsnNewsSpider(locale="de-DE").start_urls == ["https://rss.msn.com/de-de"]
