from __future__ import annotations

import asyncio
import gzip
import socket
import zlib
from typing import TYPE_CHECKING

import pytest

from denoise_crawler.commands import exchange
from denoise_crawler.commands.fetching import MAX_REDIRECTIONS, fetch
from denoise_crawler.commands.robot_fetching import RobotFetcher
from denoise_crawler.errors import FetchError
from tests.loopback import HTML, Answer, serving
from tests.tls_server import certificate, serving_tls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

PAGE = Answer(200, HTML, b"<p>A story.")
FAR = "http://far.example/a"


def fetched(url: str) -> tuple[str, str | bytes]:
    return fetch(url, user_agent="test")


def moved(location: str) -> Answer:
    return Answer(302, {"Location": location}, b"")


def test_the_charset_of_the_answer_counts() -> None:
    page = Answer(200, {"Content-Type": "text/html; charset=gb18030"}, "<p>港湾纪事".encode("gb18030"))
    with serving(lambda _: page) as (url, _):
        assert fetched(url) == (url, "<p>港湾纪事")


@pytest.mark.parametrize(
    ("content_type", "size", "location", "said"),
    [
        ("image/png", 10, "", "is image/png, not HTML"),
        ("text/html", 16_000_001, "", "is larger than 8,000,000 bytes"),
        ("text/html", 10, "file:///etc/hosts", "only http and https can be fetched, not file"),
        ("text/html", 10, "ftp://127.0.0.1/a", "only http and https can be fetched, not ftp"),
        (
            "text/html",
            10,
            "http://localhost:1/a",
            "leads to http://localhost:1/a, and localhost is on this machine",
        ),
        ("text/html", 10, "http://169.254.169.254/", "169.254.169.254/, and 169.254.169.254 is on this machine"),
        ("text/html", 10, "http://[", "which cannot be fetched"),
    ],
)
def test_what_is_no_page_is_refused(content_type: str, size: int, location: str, said: str) -> None:
    leads = {"Location": location} if location else {}
    page = Answer(302 if leads else 200, {"Content-Type": content_type, **leads}, b"x" * size)
    with serving(lambda _: page) as (url, _), pytest.raises(FetchError, match=said):
        fetched(url)


@pytest.mark.parametrize("status", [204, 304, 404, 503])
def test_an_answer_without_a_page_is_told(status: int) -> None:
    with serving(lambda _: Answer(status, HTML, b"")) as (url, asked):
        if status == 204:
            assert fetched(url) == (url, "")
        else:
            with pytest.raises(FetchError, match=f"^{url}/a: the server answers {status} "):
                fetched(f"{url}/a")
    assert len(asked) == 1


def test_a_person_is_led_to_the_page_on_the_host_that_was_named() -> None:
    leads = {"/a": moved("b?c=d e"), "/b?c=d%20e": moved("/c"), "/c": PAGE}
    with serving(leads.__getitem__) as (url, asked):
        assert fetched(f"{url}/a") == (f"{url}/c", "<p>A story.")
    assert asked == ["/a", "/b?c=d%20e", "/c"]


def test_redirections_without_end_are_left() -> None:
    refused = pytest.raises(FetchError, match="more than 10 redirections lead there")
    with serving(lambda path: moved(f"{path}a")) as (url, asked), refused:
        fetched(f"{url}/a")
    assert len(asked) == MAX_REDIRECTIONS + 1


# --- bodies that come compressed, though nobody asked for that


def compressed(encoding: str, body: bytes) -> Answer:
    return Answer(200, {**HTML, "Content-Encoding": encoding}, body)


def raw_deflate(body: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(body) + deflater.flush()


@pytest.mark.parametrize(
    ("encoding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", raw_deflate)]
)
def test_a_compressed_page_is_read_up_to_the_same_size(encoding: str, compress: Callable[[bytes], bytes]) -> None:
    with serving(lambda _: compressed(encoding, compress(b"<p>A story."))) as (url, _):
        assert fetched(url) == (url, "<p>A story.")
    bomb = compressed(encoding, compress(bytes(50_000_000)))
    with serving(lambda _: bomb) as (url, _), pytest.raises(FetchError, match="more than 8000000 bytes"):
        fetched(url)
    cut = compressed(encoding, compress(b"<p>A story.")[:-5])
    with serving(lambda _: cut) as (url, _), pytest.raises(FetchError, match="compressed data cut off"):
        fetched(url)


# --- which address is connected to


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, list[str]]]:
    """Give the names of a test their addresses, one list for each time that the name is looked up."""
    known: dict[str, list[str]] = {}
    system = socket.getaddrinfo

    def answer(host: Any, *more: Any, **named: Any) -> list[Any]:
        found = known[str(host)].pop(0).split() if host in known else [host]
        return [one for address in found for one in system(address, *more, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    yield known
    assert not any(known.values())


def test_a_name_is_looked_up_once_so_that_no_other_address_is_asked_than_was_checked(
    names: dict[str, list[str]],
) -> None:
    with serving(lambda _: PAGE) as (url, asked):
        port = url.rpartition(":")[2]
        names["rebound.example"] = ["127.0.0.1"]
        assert fetched(f"http://rebound.example:{port}/a")[1] == "<p>A story."
        names["mixed.example"] = ["93.184.215.14 127.0.0.1"]
        with pytest.raises(FetchError, match=r"^mixed\.example is on this machine or a private network"):
            asyncio.run(RobotFetcher("robot").fetch(f"http://mixed.example:{port}/a"))
        names["later.example"] = ["127.0.0.1", "127.0.0.1"]  # its robots.txt and its page
        robot = RobotFetcher("robot", ["later.example"])
        asyncio.run(robot.fetch(f"http://later.example:{port}/a"))
    assert asked == ["/a", "/robots.txt", "/a"]


def test_the_next_address_of_a_name_is_tried(names: dict[str, list[str]]) -> None:
    with serving(lambda _: PAGE) as (url, asked):
        names["two.example"] = ["::1 127.0.0.1"]
        assert fetched(f"http://two.example:{url.rpartition(':')[2]}/a")[1] == "<p>A story."
        names["gone.example"] = ["127.0.0.2 127.0.0.3"]
        with pytest.raises(FetchError, match=r"cannot be fetched: .*127\.0\.0\.3"):
            fetched("http://gone.example:1/a")
    assert asked == ["/a"]


def test_the_certificate_is_asked_for_the_name_though_the_address_is_connected_to(
    names: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certified = certificate(tmp_path / "certificate.pem", "site.example")
    exchange._verifying.cache_clear()  # it knows those of the environment when it was made
    with serving_tls(certified, PAGE.body) as port:
        names["site.example"], names["other.example"] = ["127.0.0.1", "127.0.0.1"], ["127.0.0.1"]
        with pytest.raises(FetchError, match="certificate verify failed"):
            fetched(f"https://site.example:{port}/")
        exchange._verifying.cache_clear()
        monkeypatch.setenv("SSL_CERT_FILE", str(certified))
        assert fetched(f"https://site.example:{port}/")[1] == "<p>A story."
        with pytest.raises(FetchError, match="Hostname mismatch"):
            fetched(f"https://other.example:{port}/")
    exchange._verifying.cache_clear()


# --- the proxy of the environment


@pytest.fixture
def without_proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("scheme", ["", "http://", "http://user:secret@"])
def test_the_proxy_of_the_environment_is_asked_for_names_that_only_it_knows(
    without_proxies: pytest.MonkeyPatch, scheme: str
) -> None:
    with serving(lambda path: Answer(404, {}, b"") if "robots" in path else PAGE) as (url, asked):
        without_proxies.setenv("http_proxy", scheme + url.removeprefix("http://"))
        assert fetched("http://nowhere.invalid/a") == ("http://nowhere.invalid/a", "<p>A story.")
        asyncio.run(RobotFetcher("robot").fetch("http://nowhere.invalid/b"))
    assert asked == ["http://nowhere.invalid/a", "http://nowhere.invalid/robots.txt", "http://nowhere.invalid/b"]


def test_a_proxy_does_not_lead_a_program_to_a_private_address(without_proxies: pytest.MonkeyPatch) -> None:
    with serving(lambda _: moved("http://localhost/b")) as (url, asked):
        without_proxies.setenv("http_proxy", url)
        with pytest.raises(FetchError, match="localhost is on this machine"):
            asyncio.run(RobotFetcher("robot").fetch("http://localhost/a"))
        with pytest.raises(FetchError, match="a leads to http://localhost/b, and localhost is on"):
            fetched("http://nowhere.invalid/a")
    assert asked == ["http://nowhere.invalid/a"]


def test_a_host_that_the_environment_keeps_from_the_proxy_is_asked_itself(
    without_proxies: pytest.MonkeyPatch,
) -> None:
    with serving(lambda _: PAGE) as (url, asked):
        without_proxies.setenv("http_proxy", "http://127.0.0.1:1")
        without_proxies.setenv("no_proxy", "127.0.0.1")
        fetched(f"{url}/a")
    assert asked == ["/a"]


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("http://127.0.0.1:1", "127.0.0.1"),
        ("socks9://a", "Unknown scheme for proxy"),
        ("://", "cannot be fetched"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_told(without_proxies: pytest.MonkeyPatch, proxy: str, said: str) -> None:
    without_proxies.setenv("http_proxy", proxy)
    with pytest.raises(FetchError, match=said):
        fetched("http://nowhere.invalid/a")


def test_a_proxy_that_makes_no_tunnel_is_told(without_proxies: pytest.MonkeyPatch) -> None:
    with serving(lambda _: PAGE) as (url, _):
        without_proxies.setenv("https_proxy", url)
        with pytest.raises(FetchError, match="a cannot be fetched: 501"):
            fetched("https://nowhere.invalid/a")
