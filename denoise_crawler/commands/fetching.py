"""Fetches one page without a crawl, with its redirections, in a limited time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin, urlsplit

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
    names the URL, use :class:`~denoise_crawler.commands.robot_fetching.RobotFetcher`.

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
