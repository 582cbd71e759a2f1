"""Addresses and links: one spelling per page, and what a crawl follows or leaves."""

import asyncio
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from denoise_crawler.errors import BadArgumentError
from denoise_crawler.page.site import is_private
from denoise_crawler.spiders.links import (
    PageFingerprinter,
    is_on_site,
    link_extractor,
    page_links,
    scope_of,
    without_tracking,
)
from denoise_crawler.spiders.page_spider import read_count, read_patterns, read_urls
from denoise_crawler.spiders.private_hosts import PrivateAddressError, PrivateHostsMiddleware, resolve_endpoints
from denoise_crawler.spiders.site import SiteSpider

URLISH = st.one_of(
    st.text(),
    st.text(alphabet="htps:/.?#[]@%25&=;a\\1 é\u3002\udc80").map(lambda tail: "http://h" + tail),
    st.builds(
        "http://{}:{}/{}?{}#{}".format,
        st.sampled_from(["a.b", "[::1]", "u:p@x", "例え.jp", "127.1", "a..b", "XN--A"]),
        st.sampled_from(["80", "443", "0", "99999", "x", "8080"]),
        st.text(alphabet="a/.%2eEF;:+ é"),
        st.text(alphabet="utm_spfroc=&%3D+ 1;"),
        st.text(max_size=3),
    ),
)


def page(body: str, url: str = "http://site.test/dir/page") -> HtmlResponse:
    return HtmlResponse(url, body=body.encode(errors="replace"), encoding="utf-8")


@given(URLISH)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_that_reads_an_address_raises(url: str) -> None:
    assert without_tracking(without_tracking(url)) == without_tracking(url)
    assert not is_on_site(url, [scope_of("http://site.test/")]) or scope_of(url)
    page_links(page(f'<base href="{url}"><a href="{url}">x</a>'))


def fingerprint(url: str) -> bytes:
    return PageFingerprinter(get_crawler()).fingerprint(Request(url))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://A.test:80/x#top", "http://a.test/x"),
        ("HTTPS://a.test:443", "https://a.test/"),
        ("http://a.test/?b=2&a=1", "http://a.test/?a=1&b=2"),
        ("http://a.test/x?utm_source=rss&UTM_Medium=x&id=7", "http://a.test/x?id=7"),
        ("http://a.test/x?ocid=1&cvid=2&fbclid=3&gclid=4&spm=5", "http://a.test/x"),
        ("http://a.test/x?from=timeline", "http://a.test/x"),
        ("http://a.test/a/../b/%7euser", "http://a.test/b/~user"),
    ],
)
def test_two_spellings_of_one_page_have_one_fingerprint(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.test/x?id=7", "http://a.test/x?id=8"),
        ("http://a.test/list?from=20", "http://a.test/list"),
        ("http://a.test/x", "https://a.test/x"),
        ("http://a.test/X", "http://a.test/x"),
        ("http://a.test:8080/", "http://a.test/"),
    ],
)
def test_different_pages_keep_different_fingerprints(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("url", ["", "mailto:a@b.test", "javascript:go()", "http://", "http://[x/", "/path"])
def test_what_is_no_http_address_is_on_no_site(url: str) -> None:
    assert scope_of(url) == ""
    assert not is_on_site(url, [""])


def test_a_link_is_asked_for_as_it_was_written_but_for_tracking() -> None:
    assert without_tracking("http://a.test/x?b=2&utm_source=s&a=%7e#top") == "http://a.test/x?b=2&a=%7e"


def test_links_come_in_page_order_once_each_and_absolute() -> None:
    body = """<a href="b">1</a><map><area href="/a"></map><a href="b#part">2</a><a href="b?utm_source=x">3</a>
    <a href=" //other.test/c ">4</a><a href="mailto:x@y">5</a><a href="javascript:go()">6</a><a href>7</a>"""
    assert page_links(page(body)) == [
        "http://site.test/dir/b",
        "http://site.test/a",
        "http://other.test/c",
        "http://site.test/dir/page",
    ]


def test_base_href_is_respected_also_behind_a_long_head() -> None:
    head = "<script>" + "x" * 9000 + "</script><base href='/other/'>"
    assert page_links(page(f"<head>{head}</head><a href=b>b</a>")) == ["http://site.test/other/b"]


def test_nofollow_links_and_pages_are_not_followed() -> None:
    assert page_links(page('<a rel="noopener NoFollow" href=a>a</a><a rel=author href=b>b</a>')) == [
        "http://site.test/dir/b"
    ]
    for content in ("noindex, nofollow", "NONE"):
        assert page_links(page(f'<meta name="Robots" content="{content}"><a href=a>a</a>')) == []
    assert page_links(page('<meta name=robots content="noindex"><a href=a>a</a>'))


def test_reading_links_leaves_the_parsed_tree_as_it_was() -> None:
    response = page('<base href="/x/"><a href=" a ">a</a><!-- c --><a href="b#f">b</a>')
    before = etree.tostring(response.selector.root)
    page_links(response)
    assert etree.tostring(response.selector.root) == before


def test_a_site_covers_its_subdomains_but_a_port_or_an_ip_only_itself() -> None:
    www = [scope_of("https://www.site.test/start")]
    assert is_on_site("http://site.test/", www)
    assert is_on_site("http://news.site.test/", www)
    assert not is_on_site("http://othersite.test/", www)
    assert not is_on_site("http://site.test:8080/", www)
    port = [scope_of("http://127.0.0.1:81/")]
    assert is_on_site("http://127.0.0.1:81/x", port)
    assert not is_on_site("http://127.0.0.1:82/x", port)
    assert not is_on_site("http://a.127.0.0.1/", [scope_of("http://127.0.0.1/")])


def test_files_long_addresses_and_denied_links_are_left() -> None:
    extractor = link_extractor([re.compile("/news/")], [re.compile("print")])
    links = ["/news/1", "/sport/1", "/news/1?print=1", "/news/1.PDF?download=1", "/news/" + "x" * 2083]
    body = "".join(f'<a href="{link}">x</a>' for link in links)
    assert page_links(page(body), extractor) == ["http://site.test/news/1"]


def test_start_addresses_are_parted_by_commas_and_spaces_but_not_inside_one() -> None:
    text = " http://a.test/story,12.html,https://b.test/,  http://c.test/\nhttp://d.test "
    assert read_urls("start_url", text) == [
        "http://a.test/story,12.html",
        "https://b.test/",
        "http://c.test/",
        "http://d.test/",
    ]


@pytest.mark.parametrize("text", ["a.test", "ftp://a.test/", "file:///etc/passwd", "http://", "http://a.test:x/"])
def test_start_addresses_that_are_not_http_are_refused_by_name(text: str) -> None:
    with pytest.raises(BadArgumentError, match="start_url="):
        read_urls("start_url", text)


def test_counts_and_patterns_are_checked_by_name() -> None:
    assert read_count("max_pages", None) == read_count("max_pages", "") == 0
    assert [pattern.pattern for pattern in read_patterns("allow", r"/a{1,3} b\s")] == ["/a{1,3}", r"b\s"]
    for bad in ("-1", "ten", "1.5"):
        with pytest.raises(BadArgumentError, match="max_pages="):
            read_count("max_pages", bad)
    with pytest.raises(BadArgumentError, match=r"deny='\('"):
        read_patterns("deny", "ok (")


# Ways to write addresses of this machine, of private networks and of a cloud's own services.
PRIVATE = (
    *("127.0.0.1", "127.1", "0x7f000001", "2130706433", "017700000001", "0", "0.0.0.1", "localhost"),
    "a.localhost.",
    *("10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "224.0.0.1", "１２７.0.0.1"),
    *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[fe80::1]", "[fc00::1]", "[2002:7f00:1::]"),
    *("[64:ff9b::10.0.0.1]", "[ff02::1]", "user:password@127.0.0.1"),
    *("[64:ff9b:1::7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[fec0::1]"),
)
PUBLIC = ("93.184.215.14", "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]", "198.18.0.7", "[64:ff9b::5db8:d70e]")


def asked(url: str, *given_urls: str, proxy: bool = False) -> None:
    """Send a request past the middleware of a crawl that was given some addresses."""
    crawler = get_crawler(SiteSpider)
    crawler.spider = SiteSpider(start_url=" ".join(given_urls) or "http://93.184.215.14/")
    request = Request(url, meta={"proxy": "http://127.0.0.1:3128"} if proxy else None)
    asyncio.run(PrivateHostsMiddleware.from_crawler(crawler).process_request(request))


@pytest.mark.parametrize("host", PRIVATE)
@pytest.mark.parametrize("proxy", [False, True])
def test_no_spelling_of_a_private_address_is_asked(host: str, proxy: bool) -> None:
    with pytest.raises(PrivateAddressError, match="on this machine or a private network"):
        asked(f"http://{host}/latest/meta-data", proxy=proxy)


@pytest.mark.parametrize("host", PUBLIC)
def test_public_addresses_are_asked(host: str) -> None:
    asked(f"https://{host}/")


def test_what_a_start_page_is_served_from_is_asked_by_any_name_and_at_its_port_only() -> None:
    given_urls = ("http://localhost:8000/", "http://10.0.0.1/", "http://nowhere.invalid/")
    for url in ("http://127.0.0.1:8000/a", "http://a.localhost:8000/", "http://10.0.0.1:80/", "http://10.0.0.1/a"):
        asked(url, *given_urls)
    for url in ("http://127.0.0.1/", "http://127.0.0.1:6379/", "https://10.0.0.1/", "http://10.0.0.2/"):
        with pytest.raises(PrivateAddressError):
            asked(url, *given_urls)


def test_a_name_without_an_address_is_refused_unless_a_proxy_looks_it_up() -> None:
    with pytest.raises(CannotResolveHostError):
        asked("http://nowhere.invalid/")
    asked("http://nowhere.invalid/", proxy=True)


@pytest.mark.parametrize("network", ["64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96", "fec0::/10"])
@given(data=st.data())
def test_no_address_of_these_networks_is_public(network: str, data: st.DataObject) -> None:
    assert is_private(str(data.draw(st.ip_addresses(network=network))))


@given(st.text(), st.booleans())
def test_no_address_raises_but_where_a_name_has_none(text: str, look_up: bool) -> None:
    url = text if look_up else f"http://{text}/"
    assert isinstance(asyncio.run(resolve_endpoints(url, look_up=False)), set)
