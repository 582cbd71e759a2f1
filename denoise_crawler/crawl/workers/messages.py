"""What a crawl and a worker process say to each other, and how that is written to the socket between them.

Both ends are ours, so messages are pickled. Each has its length in front, in eight bytes.
"""

from __future__ import annotations

import pickle
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from denoise_crawler.crawl.page_cleaner import CleaningJob
    from denoise_crawler.methods import Judgement
    from denoise_crawler.output.clean_page import CleanPage

LENGTH = struct.Struct("!Q")


class Begin(NamedTuple):
    """The first message to a worker: what to do, whether to use the compiled core, and the limits of a page."""

    job: CleaningJob
    core: str | None
    seconds: float
    memory: int


class Ready(NamedTuple):
    """The first message of a worker."""


class HandedPage(NamedTuple):
    """A page for a worker. Its HTML is None if the worker has it: see :class:`PageWindow`."""

    number: int
    url: str
    site: str
    html: str | None


class Task(NamedTuple):
    """What a worker is to do: a method of :class:`~denoise_crawler.crawl.workers.process.PageTasks`."""

    name: str
    page: HandedPage | None
    given: tuple[Any, ...]


class Done(NamedTuple):
    """The answer to a task: its result, or the error in words; seconds by stage."""

    result: Any
    error: str
    seconds: dict[str, float]


class Ask(NamedTuple):
    """A worker asks what is known of a site; the answer is :class:`Known`."""

    site: str


class Known(NamedTuple):
    """What is known of a site, None if nothing is."""

    known: bytes | None


class Keep(NamedTuple):
    """A worker hands on what it knows of a site, to be kept; the answer is :class:`Kept`."""

    site: str
    known: bytes


class Kept(NamedTuple):
    """Whether what a worker handed on is kept."""

    done: bool


class Logged(NamedTuple):
    """A line for the log of the crawl."""

    name: str
    level: int
    message: str


class CleanedElsewhere(NamedTuple):
    """What a crawl needs of a page that a worker has cleaned; the judgement is without the nodes."""

    clean_page: CleanPage
    visible: int
    kept: int
    judgement: Judgement | None


class MissingPart(NamedTuple):
    """The result where a part is not on its page: the message of the PartError."""

    message: str


def encode(message: object) -> bytes:
    """Return a message as bytes, with its length in front."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


def decode(data: bytes | bytearray | memoryview) -> Any:
    """Return the message that ``data`` holds, without its length."""
    return pickle.loads(data)  # noqa: S301 - from a process of ours
