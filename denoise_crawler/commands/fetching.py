"""Fetches one page without a crawl, with its redirections, in a limited time; for programs, as robots.txt says."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin, urlsplit
from weakref import WeakValueDictionary

from protego import Protego
from w3lib.url import safe_url_string

from denoise_crawler.errors import FetchError, PrivateHostError, needs
from denoise_crawler.page import MAX_HTML_BYTES
from denoise_crawler.page.site import DEFAULT_PORTS
from denoise_crawler.reading.http_response import HTML_TYPES, decode_by_content_type

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from denoise_crawler.commands.exchange import Answer, MayBePrivate, Question


SECONDS = 30.0
MAX_REDIRECTIONS = 10
T = TypeVar("T")


class TimeLimit:
    """How long servers may keep us waiting in all. A wait of our own puts the end off.

    Args:
        seconds: The limit, from now.

    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    async def within(self, work: Coroutine[Any, Any, T], url: str) -> T:
        """Return what ``work`` gives; cancel it and raise FetchError when the time is over."""
        try:
            return await asyncio.wait_for(work, self._end - time.monotonic())
        except asyncio.TimeoutError:
            said = f"{url} cannot be fetched: it was not complete after {self._seconds:g} seconds"
            raise FetchError(said) from None

    async def sleep(self, seconds: float) -> None:
        """Wait because we want to."""
        began = time.monotonic()
        await asyncio.sleep(seconds)
        self._end += time.monotonic() - began


def is_url(text: str) -> bool:
    """Tell whether ``text`` is a URL, not a path."""
    return "://" in text


def fetch(url: str, *, user_agent: str, seconds: float = SECONDS) -> tuple[str, str | bytes]:
    """Fetch a page of at most 8 MB for a person.

    robots.txt is not asked: it is for crawlers, and here a person named the URL, as in a browser. No redirection
    to this machine or a private network is followed, except on the host that the person named. Where a program
    names the URL, use :class:`~denoise_crawler.commands.fetching.RobotFetcher`.

    Args:
        url: An http or https URL.
        user_agent: The value of the User-Agent header.
        seconds: The time limit for the whole exchange with its redirections.

    Returns:
        The URL after redirections, and the HTML.

    Raises:
        FetchError: The page cannot be fetched, or is no HTML.
        MissingExtraError: The HTTP client is not installed.

    """
    url = checked(url)
    named, _ = endpoint(url)
    question = page_question(user_agent, lambda host, _: host == named)
    return html_of(*asyncio.run(follow(url, question, TimeLimit(seconds))), url)


def page_question(user_agent: str, may_be_private: MayBePrivate) -> Question:
    """Return how a page is asked for; raise MissingExtraError."""
    with needs("commands"):
        from denoise_crawler.commands.exchange import Question
    headers = {"User-Agent": user_agent, "Accept": "text/html,application/xhtml+xml"}
    return Question(headers, MAX_HTML_BYTES, may_be_private, HTML_TYPES)


async def follow(
    url: str, question: Question, limit: TimeLimit, allow: Callable[[str], Awaitable[None]] | None = None
) -> tuple[str, Answer]:
    """Ask for a URL and for what it redirects to.

    Args:
        url: The URL, :func:`checked`.
        question: How each is asked for.
        limit: The time limit for all.
        allow: Raises FetchError for an address that may not be asked, the first one or one that another leads to.

    Returns:
        The last URL, and its answer.

    Raises:
        FetchError: There is no answer, or one leads where it must not.

    """
    from denoise_crawler.commands.exchange import answer_of

    before = ""
    for _ in range(MAX_REDIRECTIONS + 1):
        if allow is not None:
            await allow(url)
        try:
            answer = await limit.within(answer_of(url, question), url)
        except PrivateHostError as error:
            raise FetchError(f"{before} leads to {url}, and {error}") if before else error from None
        if not answer.leads_to:
            return url, answer
        before, url = url, _led(url, answer.leads_to)
    raise FetchError(f"{before} cannot be fetched: more than {MAX_REDIRECTIONS} redirections lead there")


def html_of(url: str, answer: Answer, asked: str) -> tuple[str, str | bytes]:
    """Return the URL and HTML of an answer; raise FetchError that names the URL that was asked for."""
    if not answer.is_good:
        raise FetchError(f"{asked}: the server answers {answer.status} {answer.reason}")
    return url, decode_by_content_type(answer.body, answer.content_type)


def _led(url: str, location: str) -> str:
    try:
        return checked(urljoin(url, location))
    except ValueError as error:
        raise FetchError(f"{url} leads to {location}, which cannot be fetched: {error}") from None


def checked(url: str) -> str:
    """Return an address as it is asked for; raise FetchError if it has no host or may lead to a file."""
    scheme = url.partition(":")[0].lower()
    if scheme not in DEFAULT_PORTS:
        raise FetchError(f"{url}: only http and https can be fetched, not {scheme}")
    try:
        url = safe_url_string(url)
    except ValueError as error:
        raise FetchError(f"{url} cannot be fetched: {error}") from None
    endpoint(url)
    return url


def endpoint(url: str) -> tuple[str, int]:
    """Return the host and port of a URL; raise FetchError if it has none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme]
    except ValueError as error:
        raise FetchError(f"{url} cannot be fetched: {error}") from None
    if not host:
        raise FetchError(f"{url} cannot be fetched: it names no host")
    return host, port


# --- fetches pages that a program names: robots.txt is obeyed, and nothing private is asked

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
