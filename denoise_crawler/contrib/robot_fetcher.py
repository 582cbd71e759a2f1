"""Fetches pages that a program names: robots.txt is obeyed, and nothing private is asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import replace
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from cachetools import LRUCache, TTLCache
from protego import Protego

from denoise_crawler.commands.fetching import SECONDS, Query, TimeLimit, checked, endpoint, follow, html_of
from denoise_crawler.errors import FetchError, PrivateHostError

MAX_ROBOTS_BYTES = 512_000  # RFC 9309 asks for 500 KiB
MAX_CRAWL_DELAY = 30.0
_ROBOTS_SECONDS = 10.0
_SECONDS_TO_KEEP_ROBOTS = 3_600.0
_MAX_HOSTS = 1_000


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
        self._query, self._seconds = Query(user_agent, self._may_be_private), seconds
        self._private_hosts = frozenset(private_hosts)
        self._robots: TTLCache[str, Protego] = TTLCache(_MAX_HOSTS, _SECONDS_TO_KEEP_ROBOTS)
        self._turns: LRUCache[str, float] = LRUCache(_MAX_HOSTS)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def fetch(self, url: str) -> tuple[str, str | bytes]:
        """Fetch a page by its http or https URL.

        Returns:
            The URL after redirections, and the HTML.

        Raises:
            FetchError: The page may not or cannot be fetched, or is no HTML.

        """
        url, limit = checked(url), TimeLimit(self._seconds)
        last, answer = await follow(url, self._query, limit, lambda at: self._wait_until_allowed(at, limit))
        return html_of(last, answer, url)

    async def _wait_until_allowed(self, url: str, limit: TimeLimit) -> None:
        """Wait for the turn of the host; raise FetchError if the URL may not be fetched."""
        authority = _authority(url)
        robots = await limit.within(self._robots_of(authority), url)
        if not robots.can_fetch(url, self._query.user_agent):
            raise FetchError(f"{url} may not be fetched: robots.txt forbids it")
        delay = float(robots.crawl_delay(self._query.user_agent) or 0.0)
        if delay > MAX_CRAWL_DELAY:
            raise FetchError(f"{url} may not be fetched: robots.txt asks for gaps of {delay:g} seconds")
        await limit.sleep(self._seconds_until_turn(authority, delay))

    def _seconds_until_turn(self, authority: str, delay: float) -> float:
        now = time.monotonic()
        turn = max(now, self._turns.get(authority, now))
        self._turns[authority] = turn + delay
        if turn - now > MAX_CRAWL_DELAY:
            raise FetchError(f"{authority} has too many requests waiting: ask again in {turn - now:.0f} seconds")
        return turn - now

    async def _robots_of(self, authority: str) -> Protego:
        async with self._locks.setdefault(authority, asyncio.Lock()):  # the last who holds it takes it along
            robots = self._robots.get(authority)
            if robots is None:
                robots = self._robots[authority] = await self._read_robots(f"{authority}/robots.txt")
            return robots

    async def _read_robots(self, url: str) -> Protego:
        query = replace(self._query, max_bytes=MAX_ROBOTS_BYTES, types=())
        try:
            _, answer = await follow(url, query, TimeLimit(min(self._seconds, _ROBOTS_SECONDS)))
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
