from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from denoise_crawler.commands.robot_fetching import RobotFetcher
from denoise_crawler.errors import FetchError
from tests.loopback import HTML, Answer, serving

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Answer(200, HTML, b"<p>A story.")
ROBOTS = "/robots.txt"


def site(robots: Answer, **others: Answer) -> Callable[[str], Answer]:
    return lambda path: robots if path == ROBOTS else others.get(path.strip("/"), PAGE)


def rules(text: str, status: int = 200) -> Answer:
    return Answer(status, {"Content-Type": "text/plain"}, text.encode())


def fetcher(url: str) -> RobotFetcher:
    return RobotFetcher("our-robot", [url.removeprefix("http://")])


def fetched(robot: RobotFetcher, url: str) -> tuple[str, str | bytes]:
    return asyncio.run(robot.fetch(url))


def test_robots_txt_is_read_once_a_host() -> None:
    with serving(site(rules("User-agent: *\nDisallow: /secret"))) as (url, asked):
        robot = fetcher(url)
        assert fetched(robot, f"{url}/a") == (f"{url}/a", "<p>A story.")
        fetched(robot, f"{url}/b")
        with pytest.raises(FetchError, match="forbids it"):
            fetched(robot, f"{url}/secret/c")
    assert asked == [ROBOTS, "/a", "/b"]


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (500, False), (503, False)])
def test_a_robots_txt_that_is_not_there_allows_everything_and_one_that_fails_nothing(
    status: int, allowed: bool
) -> None:
    with serving(site(rules("User-agent: *\nDisallow: /", status))) as (url, asked):
        if allowed:
            assert fetched(fetcher(url), f"{url}/a")[1] == "<p>A story."
        else:
            with pytest.raises(FetchError, match=f"the server answers {status}, so nothing may be fetched"):
                fetched(fetcher(url), f"{url}/a")
    assert ("/a" in asked) is allowed


def test_the_rules_for_our_name_count() -> None:
    with serving(site(rules("User-agent: our-robot\nDisallow: /a\n\nUser-agent: *\nDisallow:"))) as (url, _):
        with pytest.raises(FetchError, match="forbids"):
            fetched(fetcher(url), f"{url}/a")
        assert fetched(RobotFetcher("another", ["127.0.0.1"]), f"{url}/a")


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
        fetched(fetcher(url), f"{url}/moved")
    assert said in str(raised.value)
    assert asked == [ROBOTS, "/moved"]


def test_robots_txt_does_not_lead_to_a_private_network_either() -> None:
    refused = pytest.raises(FetchError, match="is on this machine or a private network")
    with serving(lambda _: PAGE) as (private, asked):
        moved = Answer(302, {"Location": f"{private}/x"}, b"")
        with serving(site(moved)) as (url, _), refused:
            fetched(fetcher(url), f"{url}/a")
    assert asked == []


def test_robots_txt_is_read_once_for_pages_that_are_asked_for_at_the_same_time() -> None:
    async def fetch_all(url: str) -> list[tuple[str, str | bytes]]:
        robot = fetcher(url)
        return await asyncio.gather(*(robot.fetch(f"{url}/{number}") for number in range(4)))

    with serving(site(rules("User-agent: *\nDisallow: /secret"))) as (url, asked):
        assert [at for at, _ in asyncio.run(fetch_all(url))] == [f"{url}/{number}" for number in range(4)]
    assert sorted(asked) == ["/0", "/1", "/2", "/3", ROBOTS]


def test_requests_to_a_host_take_turns_as_its_crawl_delay_asks() -> None:
    robot = RobotFetcher("our-robot")
    turns = [robot._seconds_until_turn("https://a.example:443", 12.0) for _ in range(3)]
    assert turns[0] == 0
    assert turns == sorted(turns)
    assert 12 < turns[2] <= 24
    with pytest.raises(FetchError, match="too many requests waiting"):
        robot._seconds_until_turn("https://a.example:443", 12.0)
    assert robot._seconds_until_turn("https://b.example:443", 12.0) == 0


def test_a_crawl_delay_that_is_too_long_is_told() -> None:
    refused = pytest.raises(FetchError, match="asks for gaps of 600 seconds")
    with serving(site(rules("User-agent: *\nCrawl-delay: 600"))) as (url, asked), refused:
        fetched(fetcher(url), f"{url}/a")
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
        fetched(fetcher(url), f"{url}/a")


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
        fetched(RobotFetcher("our-robot"), url)
