"""What runs in a worker process of a crawl. It knows nothing of Scrapy, and no file.

One thread reads the socket, so the process ends as soon as the crawl does, also in the middle of a page.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import socket
import sys
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any

from denoise_crawler.batch.process import limit_memory, limit_signals, perform
from denoise_crawler.core import choose
from denoise_crawler.crawl.page_cleaner import Learned, PageCleaner
from denoise_crawler.crawl.workers.messages import (
    LENGTH,
    Ask,
    Begin,
    CleanedElsewhere,
    Done,
    HandedPage,
    Keep,
    Kept,
    Known,
    Logged,
    MissingPart,
    Ready,
    Task,
    decode,
    encode,
)
from denoise_crawler.crawl.workers.page_window import PageWindow
from denoise_crawler.denoiser import RAW
from denoise_crawler.errors import PartError
from denoise_crawler.methods import Judgement
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.denoiser import Cleaned
    from denoise_crawler.output.clean_page import CleanPage


class Line:
    """The worker's end of the socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket, self._sending = connected, Lock()
        self._file = connected.makefile("rb")
        self._tasks: SimpleQueue[Task] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()

    def begin(self) -> Begin:
        """Return the first message; from now on a thread reads the others."""
        first = self._read()
        assert isinstance(first, Begin)  # noqa: S101 - the crawl sends it first
        Thread(target=self._read_all, daemon=True).start()
        return first

    def send(self, message: object) -> None:
        """Send a message."""
        data = encode(message)
        with self._sending:
            self._socket.sendall(data)

    def ask(self, question: Ask | Keep) -> Any:
        """Return the answer of the crawl."""
        self.send(question)
        return self._answers.get()

    def task(self) -> Task:
        """Return the next task."""
        return self._tasks.get()

    def _read_all(self) -> None:
        try:
            while True:
                message = self._read()
                if isinstance(message, (Known, Kept)):
                    self._answers.put(message)
                else:
                    self._tasks.put(message)
        finally:  # the crawl has ended, or was killed
            os._exit(0)

    def _read(self) -> Any:
        [length] = LENGTH.unpack(self._file.read(LENGTH.size))
        return decode(self._file.read(length))


class AskedKnowledge:
    """What is known of sites. It lies in the store, which only the crawl itself reads and writes."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def get(self, site: str) -> bytes | None:
        """Return what is known of ``site``, or None."""
        answer: Known = self._line.ask(Ask(site))
        return answer.known

    def put(self, site: str, known: bytes) -> bool:
        """Have kept what is ``known`` of ``site``; return whether that worked."""
        answer: Kept = self._line.ask(Keep(site, known))
        return answer.done


class LogToCrawl(logging.Handler):
    """Sends the lines of the log to the crawl."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        """Send one line."""
        self._line.send(Logged(record.name, record.levelno, self.format(record)))


@dataclass(slots=True)
class HeldPage:
    """A page in the window of a worker, and its record once it was cleaned."""

    page: Page
    cleaned: Cleaned | None = None


class PageTasks:
    """The tasks of a worker, by name."""

    def __init__(self, begin: Begin, line: Line) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._pages = PageCleaner(begin.job, AskedKnowledge(line), self._timed)
        self._window = PageWindow[HeldPage]()

    def do(self, task: Task) -> Any:
        """Do a task and return its result."""
        held = () if task.page is None else (self._held(task.page),)
        return getattr(self, task.name)(*held, *task.given)

    def take_seconds(self) -> dict[str, float]:
        """Return the seconds by stage since the last call."""
        seconds, self._seconds = self._seconds, defaultdict(float)
        return dict(seconds)

    def start(self) -> None:
        """Do nothing: whoever asked knows now that this process works."""

    def skipped(self, held: HeldPage) -> str | None:
        """Return why the page has nothing to read."""
        return held.page.skipped

    def learn(self, held: HeldPage, ready: bool) -> Learned:
        """Learn the page."""
        return self._pages.learn(held.page, ready=ready)

    def clean(self, held: HeldPage, warm: bool) -> CleanedElsewhere:
        """Clean the page."""
        return self._keep(held, self._pages.clean(held.page, warm=warm))

    def raw(self, held: HeldPage) -> CleanedElsewhere:
        """Return the page with all of its text."""
        return self._keep(held, self._pages.raw(held.page))

    def preview(self, held: HeldPage) -> CleanedElsewhere:
        """Clean the page for somebody who looks at it."""
        return _sent(self._pages.preview(held.page))

    def part(self, held: HeldPage, part: str, method: str, warm: bool) -> CleanPage | MissingPart:
        """Return the clean text of a part. The page is cleaned again, as before, if its record was dropped."""
        if held.cleaned is None:
            is_raw, page = method == RAW, held.page
            held.cleaned = self._pages.raw(page) if is_raw else self._pages.clean(page, warm=warm)
        try:
            return self._pages.part(held.cleaned, part)
        except PartError as error:
            return MissingPart(str(error))

    def save(self, site: str | None) -> None:
        """Hand on what is known of ``site``, None: of all sites."""
        self._pages.save(site)

    def _keep(self, held: HeldPage, cleaned: Cleaned) -> CleanedElsewhere:
        held.cleaned = cleaned
        return _sent(cleaned)

    def _held(self, handed: HandedPage) -> HeldPage:
        number, url, site, html = handed
        held = self._window.get(number)
        if held is None:
            assert html is not None  # noqa: S101 - the crawl's window is the same
            held = HeldPage(Page.parse(url, html, site=site))
            self._window.add(number, len(html), held)
        return held

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self._seconds[name] += perf_counter() - start


def _sent(cleaned: Cleaned) -> CleanedElsewhere:
    told = found = cleaned.judgement
    if found is not None:
        told = Judgement([], [], guarded=found.guarded, obeyed=found.obeyed, passed_over=found.passed_over)
    return CleanedElsewhere(cleaned.clean_page, cleaned.visible, cleaned.kept, told)


def main(connected: socket.socket) -> None:
    """Do tasks until the crawl ends."""
    faulthandler.enable()
    os.dup2(2, 1)  # what a user's function prints must not come between the items of a feed on the standard output
    line = Line(connected)
    begin = line.begin()
    limit_signals()
    logging.basicConfig(level=logging.WARNING, handlers=[LogToCrawl(line)], format="%(message)s")
    if begin.core is not None:
        choose(begin.core)
    tasks = PageTasks(begin, line)
    limit_memory(begin.memory)
    line.send(Ready())
    while True:
        result, error = perform(partial(tasks.do, line.task()), begin.seconds)
        line.send(Done(result, error, tasks.take_seconds()))


def inherited_socket(number: int) -> socket.socket:
    """Return the socket that this process was started with.

    Args:
        number: Its file number; -1 on Windows, where its description comes by the standard input.
    """
    return socket.socket(fileno=number) if number >= 0 else socket.fromshare(sys.stdin.buffer.read())  # type: ignore[attr-defined, unused-ignore]
