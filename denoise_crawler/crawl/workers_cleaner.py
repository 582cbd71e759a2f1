"""The cleaner that hands pages to worker processes, each page to the worker of its site."""

from __future__ import annotations

import asyncio
import logging
import pickle
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from math import ceil
from typing import Any
from weakref import WeakKeyDictionary

from denoise_crawler.crawl.page_cleaner import Learned, PageCleaner
from denoise_crawler.crawl.page_tasks import Ask, HandedPage, Keep, MissingPart, PageTasks, begin
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.denoiser import Cleaned, Cleaning
from denoise_crawler.errors import AskAgainError, GivenUpError, PartError, SettingError, WorkerDiedError
from denoise_crawler.methods.base import InMemoryKnowledge, Knowledge
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.page import Page
from denoise_crawler.page.held_pages import PageWindow
from denoise_crawler.page.text import printable
from denoise_crawler.workers import Limits, worker_number
from denoise_crawler.workers.async_worker import AsyncWorker
from denoise_crawler.workers.process import Begin, Call, Reply, encode

logger = logging.getLogger(__name__)

MAX_BYTES = 2 << 30  # that a worker may hold
_CLOCK_TIMES = 10  # a page may take so many times its CPU time by the clock


class WorkersCleaner:
    """Has pages learned and cleaned by worker processes. All pages of a site go to the same one.

    What the workers learn lies in the store, as without workers: they ask for it and hand it on, and only this
    process reads and writes it. Each task raises WorkerError if a process cannot do it; ``clean`` raises
    AskAgainError if it is to be asked again. A page that was cleaned has its judgement without the nodes.

    Attributes:
        lost: The sites of which pages were learned by a process that died before they were saved.

    Args:
        cleaning: How pages are cleaned.
        workers: How many processes.
        seconds: The CPU time that a page may take; 0 for no limit.
        core: Whether the workers use the compiled core, None for what they find.
        knowledge: What is known of sites.
        counts: The stats.

    Raises:
        SettingError: An option cannot be given to another process.
    """

    def __init__(
        self,
        cleaning: Cleaning,
        workers: int,
        seconds: float,
        core: str | None,
        knowledge: Knowledge,
        counts: CrawlReport,
    ) -> None:
        self._cleaning, self._knowledge, self._counts = cleaning, knowledge, counts
        share = replace(cleaning, sites_in_memory=ceil(cleaning.sites_in_memory / workers))
        first = Begin(partial(begin, share, core), Limits(seconds, MAX_BYTES, _CLOCK_TIMES * seconds))
        _check_picklable(first)
        self._windows: dict[AsyncWorker, PageWindow[int, None]] = {}
        self._workers = [AsyncWorker(first, self._reply, self._empty_window, self._forget) for _ in range(workers)]
        self._numbers: WeakKeyDictionary[Page, int] = WeakKeyDictionary()
        self._next_number = count().__next__
        self._unsaved: set[str] = set()  # sites that are learned and were not saved since
        self.lost: set[str] = set()
        self._handed_again: set[int] = set()  # keys of pages whose worker was killed
        self._given_up: dict[int, str] = {}  # how a worker died, by the keys of pages not handed over any more

    async def start(self) -> None:
        """Start all processes; raise WorkerError if one cannot be started."""
        await asyncio.gather(*(self._ask(worker, "start") for worker in self._workers))

    async def skipped(self, page: Page) -> str | None:
        """Return why ``page`` has nothing to read."""
        found: str | None = await self._do("skipped", page)
        return found

    async def learn(self, page: Page, *, ready: bool) -> Learned:
        """Have ``page`` learned."""
        if not ready:
            self._unsaved.add(page.site)
        learned: Learned = await self._do("learn", page, ready)
        return learned

    async def clean(self, page: Page, *, warm: bool) -> Cleaned:
        """Have ``page`` cleaned."""
        return Cleaned(page, *await self._do("clean", page, warm))

    async def raw(self, page: Page) -> Cleaned:
        """Return ``page`` with all of its text."""
        return Cleaned(page, *await self._do("raw", page))

    async def part(self, cleaned: Cleaned, part: str) -> CleanPage:
        """Return the clean text of a part of a cleaned page; raise PartError if the part is not there."""
        before = cleaned.clean_page
        found: CleanPage | MissingPart = await self._do(
            "part", cleaned.page, part, before.method, bool(before.warm)
        )
        if isinstance(found, MissingPart):
            raise PartError(found.message)
        return found

    async def preview(self, page: Page) -> Cleaned:
        """Have ``page`` cleaned for somebody who looks at it."""
        return Cleaned(page, *await self._do("preview", page))

    async def save(self, site: str | None) -> None:
        """Have kept what is known of ``site``, None: of all sites."""
        if site is not None:
            with suppress(AskAgainError):  # the dead worker knew it, so there is nothing to save
                await self._ask(self._worker_of(site), "save", None, site)
                self._unsaved.discard(site)
            return
        running = [worker for worker in self._workers if worker.has_process]
        await asyncio.gather(*(self._ask(worker, "save", None, None) for worker in running))

    async def close(self) -> None:
        """End the processes."""
        await asyncio.gather(*(worker.close() for worker in self._workers))

    def pages_known(self, site: str) -> int:
        """Return how many pages of ``site`` are known, by what is kept of it."""
        known = self._knowledge.get(site)
        return 0 if known is None else self._cleaning.choice.knowing([known], site).pages_known

    def view(self, page: Page) -> Cleaned:
        """Clean ``page`` here, by what was kept of its site."""
        saved = InMemoryKnowledge(below=self._knowledge)
        return PageCleaner(self._cleaning, saved, lambda _: nullcontext()).preview(page)

    def _reply(self, message: Any) -> Reply | None:
        """Reply to what a worker asks; log what it has to say."""
        if isinstance(message, Ask):
            return Reply(self._knowledge.get(message.site))
        if isinstance(message, Keep):
            return Reply(self._knowledge.put(message.site, message.known))
        logging.getLogger(message.name).log(message.level, "%s", message.message)
        return None

    def _worker_of(self, site: str) -> AsyncWorker:
        return self._workers[worker_number(site, len(self._workers))]

    async def _ask(self, worker: AsyncWorker, name: str, page: Page | None = None, *given: Any) -> Any:
        """Return the result of a task by its name; count its seconds."""

        def make() -> Call:
            handed = None if page is None else self._handed(page, self._windows[worker])
            return Call(PageTasks.do, (name, handed, *given), {})

        result, seconds = await worker.do(make)
        for stage, spent in seconds.items():
            self._counts.add_seconds(stage, spent)
        return result

    async def _do(self, name: str, page: Page, *given: Any) -> Any:
        while page.key not in self._given_up:
            try:
                return await self._ask(self._worker_of(page.site), name, page, *given)
            except WorkerDiedError as error:
                self._hand_again(page, error)
            except AskAgainError:
                pass
            if name == "clean":  # what was known of the site may have to be learned again first
                raise AskAgainError(f"the worker process of {page.site} died")
        raise GivenUpError(f"a worker process died of it before: {self._given_up[page.key]}")

    def _hand_again(self, page: Page, error: WorkerDiedError) -> None:
        """Note that a worker died with ``page`` in hand; raise the error if the page is not handed over again.

        Who is killed by another program, or by the system because memory is short, has not died of its page. One
        that breaks a limit of ours has, and so has the second one.
        """
        if not error.killed or page.key in self._handed_again:
            self._given_up[page.key] = str(error)
            raise error
        self._handed_again.add(page.key)
        logger.info("%s is handed to another worker process: %s", printable(page.url), printable(error))

    def _handed(self, page: Page, window: PageWindow[int, None]) -> HandedPage:
        """Return what is sent of a page: not its HTML if the worker still has it."""
        if page not in self._numbers:
            self._numbers[page] = self._next_number()
        number = self._numbers[page]
        if window.has(number):
            return HandedPage(number, page.url, page.site, None)
        html = page.markup
        window.add(number, len(html), None)
        return HandedPage(number, page.url, page.site, html)

    def _empty_window(self, worker: AsyncWorker) -> None:
        self._windows[worker] = PageWindow()

    def _forget(self, worker: AsyncWorker) -> None:
        self._counts.count("workers_died")
        lost = {site for site in self._unsaved if self._worker_of(site) is worker}
        self._unsaved -= lost
        self.lost |= lost


def _check_picklable(first: Begin) -> None:
    try:
        encode(first)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SettingError(
            f"DENOISE_WORKERS is set, but an option cannot be given to another process ({error}): set it to 0, or "
            "give options that can be pickled"
        ) from None
