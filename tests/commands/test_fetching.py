"""A page that a command fetches: from whom, by which rules, and for how long."""

import asyncio
import gzip
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from denoise_crawler.commands import fetching
from denoise_crawler.commands.fetching import MAX_REDIRECTIONS, Query, fetch, follow
from denoise_crawler.contrib.mcp import RobotFetcher
from denoise_crawler.errors import FetchError
from tests.loopback import HTML, SHAPES, Answer, Shape, certificate, serving, slow_server

PAGE = Answer(200, HTML, b"<p>A story.")


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
    fetching._verifying.cache_clear()  # it knows those of the environment when it was made
    with serving(lambda _: PAGE, certified) as served:
        port = int(served.url.rpartition(":")[2])
        names["site.example"], names["other.example"] = ["127.0.0.1", "127.0.0.1"], ["127.0.0.1"]
        with pytest.raises(FetchError, match="certificate verify failed"):
            fetched(f"https://site.example:{port}/")
        fetching._verifying.cache_clear()
        monkeypatch.setenv("SSL_CERT_FILE", str(certified))
        assert fetched(f"https://site.example:{port}/")[1] == "<p>A story."
        with pytest.raises(FetchError, match="Hostname mismatch"):
            fetched(f"https://other.example:{port}/")
    fetching._verifying.cache_clear()


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


def test_behind_a_proxy_the_host_that_a_person_named_is_not_looked_up(
    without_proxies: pytest.MonkeyPatch, names: dict[str, list[str]]
) -> None:
    names["intranet.example"] = []
    with serving(lambda _: PAGE) as (url, _):
        without_proxies.setenv("http_proxy", url)
        assert fetched("http://intranet.example/a")[1] == "<p>A story."


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


ROBOTS = "/robots.txt"


def site(robots: Answer, **others: Answer) -> Callable[[str], Answer]:
    return lambda path: robots if path == ROBOTS else others.get(path.strip("/"), PAGE)


def rules(text: str, status: int = 200) -> Answer:
    return Answer(status, {"Content-Type": "text/plain"}, text.encode())


def fetcher(url: str) -> RobotFetcher:
    return RobotFetcher("our-robot", [url.removeprefix("http://")])


def robot_fetched(robot: RobotFetcher, url: str) -> tuple[str, str | bytes]:
    return asyncio.run(robot.fetch(url))


def test_robots_txt_is_read_once_a_host() -> None:
    with serving(site(rules("User-agent: *\nDisallow: /secret"))) as (url, asked):
        robot = fetcher(url)
        assert robot_fetched(robot, f"{url}/a") == (f"{url}/a", "<p>A story.")
        robot_fetched(robot, f"{url}/b")
        with pytest.raises(FetchError, match="forbids it"):
            robot_fetched(robot, f"{url}/secret/c")
    assert asked == [ROBOTS, "/a", "/b"]


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (500, False), (503, False)])
def test_a_robots_txt_that_is_not_there_allows_everything_and_one_that_fails_nothing(
    status: int, allowed: bool
) -> None:
    with serving(site(rules("User-agent: *\nDisallow: /", status))) as (url, asked):
        if allowed:
            assert robot_fetched(fetcher(url), f"{url}/a")[1] == "<p>A story."
        else:
            with pytest.raises(FetchError, match=f"the server answers {status}, so nothing may be fetched"):
                robot_fetched(fetcher(url), f"{url}/a")
    assert ("/a" in asked) is allowed


def test_the_rules_for_our_name_count() -> None:
    with serving(site(rules("User-agent: our-robot\nDisallow: /a\n\nUser-agent: *\nDisallow:"))) as (url, _):
        with pytest.raises(FetchError, match="forbids"):
            robot_fetched(fetcher(url), f"{url}/a")
        assert robot_fetched(RobotFetcher("another", ["127.0.0.1"]), f"{url}/a")


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("/secret", "/secret may not be fetched: robots.txt forbids it"),
        ("http://127.0.0.1:1/", "127.0.0.1 is on this machine or a private network"),
        ("http://169.254.169.254/", "169.254.169.254 is on this machine or a private network"),
        ("http://[::ffff:127.0.0.1]:1/", "is on this machine or a private network"),
        ("ftp://127.0.0.1/", "only http and https can be fetched, not ftp"),
    ],
)
def test_a_redirection_is_asked_about_like_any_address(location: str, said: str) -> None:
    moved = Answer(302, {"Location": location}, b"")
    robots = rules("User-agent: *\nDisallow: /secret")
    with serving(site(robots, moved=moved)) as (url, asked), pytest.raises(FetchError) as raised:
        robot_fetched(fetcher(url), f"{url}/moved")
    assert said in str(raised.value)
    assert asked == [ROBOTS, "/moved"]


def test_robots_txt_does_not_lead_to_a_private_network_either() -> None:
    refused = pytest.raises(FetchError, match="is on this machine or a private network")
    with serving(lambda _: PAGE) as (private, asked):
        moved = Answer(302, {"Location": f"{private}/x"}, b"")
        with serving(site(moved)) as (url, _), refused:
            robot_fetched(fetcher(url), f"{url}/a")
    assert asked == []


def test_a_crawl_delay_that_is_too_long_is_told() -> None:
    refused = pytest.raises(FetchError, match="asks for gaps of 600 seconds")
    with serving(site(rules("User-agent: *\nCrawl-delay: 600"))) as (url, asked), refused:
        robot_fetched(fetcher(url), f"{url}/a")
    assert asked == [ROBOTS]


@pytest.mark.parametrize(
    ("robots", "said"),
    [
        (rules("#" * 600_000), "robots.txt is larger than 512,000 bytes"),
        (rules("User-agent: *\nDisallow: /", 301), "cannot be reached|the server answers 301"),
    ],
)
def test_a_robots_txt_that_cannot_be_read_allows_nothing(robots: Answer, said: str) -> None:
    with serving(site(robots)) as (url, _), pytest.raises(FetchError, match=said):
        robot_fetched(fetcher(url), f"{url}/a")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://", "names no host"),
        ("http://[bad/", "cannot be fetched"),
        ("http://a.example:x/", "cannot be fetched"),
        ("http://nowhere.invalid/", "so nothing may be fetched there"),
        ("data:text/html,x", "only http and https"),
        ("", "only http and https"),
    ],
)
def test_what_is_no_address_is_told(url: str, said: str) -> None:
    with pytest.raises(FetchError, match=said):
        robot_fetched(RobotFetcher("our-robot"), url)


LIMIT = 0.3
LIMIT_BEHIND_HONEST = 2.0  # where something quick is answered first, on a machine that may be busy
WAITS = 60.0  # for what must happen; a test that has to wait so long fails
NO_ANSWER = SHAPES["no answer"]
FLOOD = Shape(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 4000)  # as fast as we read


def honest(path: str) -> Answer:
    return Answer(404, {}, b"") if path == "/robots.txt" else Answer(200, HTML, b"<p>A story.")


def as_person(url: str, **limit: float) -> None:
    fetch(url, user_agent="test", **limit)


def as_robot(url: str, **limit: float) -> None:
    asyncio.run(RobotFetcher("robot", ["127.0.0.1"], **limit).fetch(url))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    ("fetch_page", "robots", "seconds"),
    [(as_person, False, LIMIT), (as_robot, True, LIMIT), (as_robot, False, LIMIT_BEHIND_HONEST)],
    ids=["a person", "a program and robots.txt", "a program and a page"],
)
def test_a_slow_server_is_left_when_the_time_is_over(
    shape: Shape, fetch_page: Callable[..., None], robots: bool, seconds: float
) -> None:
    with slow_server(shape, robots=robots) as server:
        with pytest.raises(FetchError, match=f"cannot be fetched: it was not complete after {seconds:g} seconds"):
            fetch_page(f"{server.url}/a", seconds=seconds)
        assert server.left.wait(WAITS)


@pytest.mark.parametrize("fetch_page", [as_person, as_robot])
def test_a_server_that_never_answers_in_tls_is_left(fetch_page: Callable[..., None]) -> None:
    with slow_server(NO_ANSWER, robots=True) as server:
        with pytest.raises(FetchError, match="it was not complete after"):
            fetch_page(f"{server.url.replace('http', 'https')}/a", seconds=LIMIT)
        assert server.left.wait(WAITS)


@pytest.mark.parametrize("fetch_page", [as_person, as_robot])
def test_redirections_share_the_time_of_the_page(fetch_page: Callable[..., None]) -> None:
    def lead_on(path: str) -> Answer:
        time.sleep(LIMIT / 2)
        return Answer(302, {"Location": f"{path}a"}, b"")

    with serving(lead_on) as (url, _), pytest.raises(FetchError, match="it was not complete after"):
        fetch_page(f"{url}/a", seconds=LIMIT)


@pytest.mark.parametrize("shape", [SHAPES["a header byte by byte"], FLOOD], ids=["drops", "flood"])
@pytest.mark.parametrize("robots", [False, True])
def test_another_host_answers_while_one_is_slow(shape: Shape, robots: bool) -> None:
    async def happens(slow: Any, url: str) -> list[str]:
        robot, events = RobotFetcher("robot", ["127.0.0.1"]), list[str]()
        waits = asyncio.create_task(robot.fetch(f"{slow.url}/a"))
        again = asyncio.create_task(robot.fetch(f"{slow.url}/b"))
        assert await asyncio.to_thread(slow.waiting.wait, WAITS)
        events.append("the slow host keeps us waiting")
        assert (await robot.fetch(f"{url}/a"))[1] == "<p>A story."
        events.append("the honest host has answered")
        events += ["and the slow one still has not"] * (not waits.done() and not again.done())
        for task in (waits, again):
            task.cancel()
        await asyncio.wait([waits, again])
        assert await asyncio.to_thread(slow.left.wait, WAITS)
        return [*events, "it is left"]

    with slow_server(shape, robots=robots) as slow, serving(honest) as (url, _):
        assert asyncio.run(happens(slow, url)) == [
            "the slow host keeps us waiting",
            "the honest host has answered",
            "and the slow one still has not",
            "it is left",
        ]


def test_a_robots_txt_that_was_too_slow_is_asked_for_again() -> None:
    async def twice(url: str) -> list[bool]:
        robot = RobotFetcher("robot", ["127.0.0.1"], seconds=LIMIT)
        given = await asyncio.gather(robot.fetch(url), robot.fetch(url), return_exceptions=True)
        return [isinstance(one, FetchError) for one in given]

    with slow_server(NO_ANSWER, robots=True) as server:
        assert asyncio.run(twice(f"{server.url}/a")) == [True, True]


def test_our_own_waits_for_a_turn_take_no_time_from_the_server() -> None:
    async def after_a_turn(_: str) -> float:
        return LIMIT * 1.5

    with serving(lambda _: PAGE) as (url, _):
        _, answer = asyncio.run(follow(url, Query("robot", lambda *_: True), LIMIT, after_a_turn))
    assert answer.is_good


def test_a_name_that_is_looked_up_without_end_holds_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    system, ended, asked = socket.getaddrinfo, threading.Event(), list[Any]()

    def look_up(host: Any, *more: Any, **named: Any) -> Any:
        if "slow" in str(host):
            asked.append(host)
            ended.wait(WAITS)
        return system(host, *more, **named)

    async def fetch_all(url: str) -> list[Any]:
        hasty, patient = RobotFetcher("robot", seconds=LIMIT), RobotFetcher("robot", ["127.0.0.1"])
        slow = [hasty.fetch(f"http://slow{number}.invalid/") for number in range(40)]
        found = await asyncio.gather(*slow, patient.fetch(f"{url}/a"), return_exceptions=True)
        return [found[-1], *{type(one) for one in found[:-1]}]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    try:
        with serving(honest) as (url, _):
            assert asyncio.run(fetch_all(url)) == [(f"{url}/a", "<p>A story."), FetchError]
        assert len(asked) == 40
        assert not ended.is_set()
    finally:
        ended.set()
