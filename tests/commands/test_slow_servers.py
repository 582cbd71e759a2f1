"""A server that keeps us waiting is left when the time is over, and holds up no other."""

from __future__ import annotations

import asyncio
import inspect
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from denoise_crawler.commands.fetching import SECONDS, TimeLimit, fetch
from denoise_crawler.commands.robot_fetching import RobotFetcher
from denoise_crawler.errors import FetchError
from tests.loopback import HTML, Answer, serving
from tests.slow_servers import SHAPES, Shape, slow_server

if TYPE_CHECKING:
    from collections.abc import Callable

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


def test_the_time_limit_is_thirty_seconds() -> None:
    assert SECONDS == 30
    for fetches in (fetch, RobotFetcher):
        assert inspect.signature(fetches).parameters["seconds"].default == SECONDS


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
    async def answers_after_its_turn() -> str:
        limit = TimeLimit(LIMIT)
        await limit.sleep(LIMIT * 1.5)
        return await limit.within(asyncio.sleep(0, "an answer"), "http://a.example/")

    assert asyncio.run(answers_after_its_turn()) == "an answer"


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
