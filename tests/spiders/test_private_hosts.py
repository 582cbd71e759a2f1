from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.test import get_crawler

from denoise_crawler.crawl.private_addresses import is_private
from denoise_crawler.spiders.private_hosts import PrivateAddressError, PrivateHostsMiddleware, resolve_endpoints
from denoise_crawler.spiders.site import SiteSpider

# Ways to write addresses of this machine, of private networks and of a cloud's own services.
PRIVATE = (
    *(
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "017700000001",
        "0",
        "0.0.0.1",
        "localhost",
        "a.localhost.",
    ),
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


@given(st.ip_addresses())
def test_any_address_is_private_or_not(address: object) -> None:
    assert is_private(str(address)) in (True, False)


@given(st.text(), st.booleans())
def test_no_address_raises_but_where_a_name_has_none(text: str, look_up: bool) -> None:
    url = text if look_up else f"http://{text}/"
    assert isinstance(asyncio.run(resolve_endpoints(url, look_up=False)), set)
