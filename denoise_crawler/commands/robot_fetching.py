"""Fetches pages that a program names: robots.txt is obeyed, and nothing private is asked."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from protego import Protego

from denoise_crawler.commands.fetching import SECONDS, TimeLimit, checked, endpoint, follow, html_of, page_question
from denoise_crawler.errors import FetchError, PrivateHostError

MAX_ROBOTS_BYTES = 512_000  # RFC 9309 asks for 500 KiB
MAX_CRAWL_DELAY = 30.0
_ROBOTS_SECONDS = 10.0
_ROBOTS_KEPT_SECONDS = 3_600.0
_MAX_ROBOTS_KEPT = 1_000


class RobotFetcher:
    """Fetches pages for a program, many at a time, in one event loop.

    robots.txt of each host is read before its first page and kept for an hour; one that cannot be reached allows
    nothing, one that does not exist everything. A ``Crawl-delay`` is waited for. Names and redirects that lead to
    this machine or a private network are refused: the connection goes to the address that was checked. A proxy
    of the environment looks names up itself; the names are checked here as well.

    Args:
        user_agent: The name that robots.txt is asked for, and the value of the User-Agent header.
        private_hosts: Hosts, each with its port or without, that may be asked though they are private.
        seconds: The time limit for a page with its redirections and what is read of robots.txt; turns that
            ``Crawl-delay`` asks for do not count.

    """

    def __init__(self, user_agent: str, private_hosts: Collection[str] = (), *, seconds: float = SECONDS) -> None:
        self._user_agent, self._seconds = user_agent, seconds
        self._private_hosts = frozenset(private_hosts)
        self._robots: OrderedDict[str, tuple[float, Protego]] = OrderedDict()
        self._turns: OrderedDict[str, float] = OrderedDict()
        self._reading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def fetch(self, url: str) -> tuple[str, str | bytes]:
        """Fetch a page by its http or https URL.

        Returns:
            The URL after redirections, and the HTML.

        Raises:
            FetchError: The page may not or cannot be fetched, or is no HTML.

        """
        url, limit = checked(url), TimeLimit(self._seconds)
        question = page_question(self._user_agent, self._may_be_private)
        found = await follow(url, question, limit, lambda at: self._wait_until_allowed(at, limit))
        return html_of(*found, url)

    async def _wait_until_allowed(self, url: str, limit: TimeLimit) -> None:
        """Wait for the turn of the host; raise FetchError if the URL may not be fetched."""
        authority = _authority(url)
        robots = await limit.within(self._robots_of(authority), url)
        if not robots.can_fetch(url, self._user_agent):
            raise FetchError(f"{url} may not be fetched: robots.txt forbids it")
        delay = float(robots.crawl_delay(self._user_agent) or 0.0)
        if delay > MAX_CRAWL_DELAY:
            raise FetchError(f"{url} may not be fetched: robots.txt asks for gaps of {delay:g} seconds")
        await limit.sleep(self._seconds_until_turn(authority, delay))

    def _seconds_until_turn(self, authority: str, delay: float) -> float:
        now = time.monotonic()
        turn = max(now, self._turns.pop(authority, now))
        self._turns[authority] = turn + delay
        _forget_the_oldest(self._turns)
        if turn - now > MAX_CRAWL_DELAY:
            raise FetchError(f"{authority} has too many requests waiting: ask again in {turn - now:.0f} seconds")
        return turn - now

    async def _robots_of(self, authority: str) -> Protego:
        one_at_a_time = self._reading.setdefault(authority, asyncio.Lock())  # it goes with the last who holds it
        async with one_at_a_time:
            read_at, robots = self._robots.get(authority, (-_ROBOTS_KEPT_SECONDS, None))
            if robots is None or time.monotonic() - read_at >= _ROBOTS_KEPT_SECONDS:
                robots = await self._read_robots(f"{authority}/robots.txt")
                self._robots[authority] = (time.monotonic(), robots)
                self._robots.move_to_end(authority)
                _forget_the_oldest(self._robots)
            return robots

    async def _read_robots(self, url: str) -> Protego:
        page = page_question(self._user_agent, self._may_be_private)
        headers = {"User-Agent": self._user_agent}
        question = replace(page, headers=headers, max_bytes=MAX_ROBOTS_BYTES, types=())
        try:
            _, answer = await follow(url, question, TimeLimit(min(self._seconds, _ROBOTS_SECONDS)))
        except PrivateHostError:
            raise
        except FetchError as error:
            raise FetchError(f"{error}, so nothing may be fetched there") from None
        if 400 <= answer.status < 500:  # there is none
            return Protego.parse("")
        if not answer.is_good:
            raise FetchError(f"{url}: the server answers {answer.status}, so nothing may be fetched there")
        return Protego.parse(answer.body.decode("utf-8", "replace"))

    def _may_be_private(self, host: str, port: int) -> bool:
        return not self._private_hosts.isdisjoint((host, f"{host}:{port}"))


def _authority(url: str) -> str:
    """Return the scheme, host and port of a URL: what has a robots.txt."""
    host, port = endpoint(url)
    return f"{urlsplit(url).scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _forget_the_oldest(kept: OrderedDict[str, Any]) -> None:
    while len(kept) > _MAX_ROBOTS_KEPT:
        kept.popitem(last=False)
