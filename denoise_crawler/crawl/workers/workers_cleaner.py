"""The cleaner that hands pages to worker processes, each page to the worker of its site."""

from __future__ import annotations

import asyncio
import logging
import pickle
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import count
from math import ceil
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from denoise_crawler.batch.worker import worker_number
from denoise_crawler.batch.workers import Limits
from denoise_crawler.crawl.page_cleaner import PageCleaner
from denoise_crawler.crawl.workers.messages import Begin, HandedPage, Logged, MissingPart, Task, encode
from denoise_crawler.crawl.workers.worker import Worker
from denoise_crawler.errors import AskAgainError, GivenUpError, PartError, SettingError, WorkerDiedError
from denoise_crawler.methods.site_knowledge import InMemoryKnowledge
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.inline_cleaner import CleanedPage
    from denoise_crawler.crawl.page_cleaner import CleaningJob, Learned
    from denoise_crawler.crawl.workers.page_window import PageWindow
    from denoise_crawler.denoiser import Cleaned
    from denoise_crawler.methods.site_knowledge import Knowledge
    from denoise_crawler.output.clean_page import CleanPage
    from denoise_crawler.page import Page

logger = logging.getLogger(__name__)

MAX_BYTES = 2 << 30  # that a worker may hold
_CLOCK_TIMES = 10  # a page may take so many times its CPU time by the clock


class WorkersCleaner:
    """Has pages learned and cleaned by worker processes. All pages of a site go to the same one.

    What the workers learn lies in the store, as without workers: they ask for it and hand it on, and only this
    process reads and writes it.

    Args:
        job: How pages are cleaned.
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
        job: CleaningJob,
        workers: int,
        seconds: float,
        core: str | None,
        knowledge: Knowledge,
        counts: Counts,
    ) -> None:
        self._job, self._knowledge, self._counts = job, knowledge, counts
        share = replace(job, sites_in_memory=ceil(job.sites_in_memory / workers))
        begin, limits = Begin(share, core, seconds, MAX_BYTES), Limits(seconds, MAX_BYTES, _CLOCK_TIMES * seconds)
        _check_picklable(begin)
        self._workers = [Worker(begin, limits, self, self._forget) for _ in range(workers)]
        self._numbers: WeakKeyDictionary[Page, int] = WeakKeyDictionary()
        self._next_number = count().__next__
        self._unsaved: set[str] = set()  # sites that are learned and were not saved since
        self.lost: set[str] = set()  # those of them that a dead worker knew
        self._handed_again: set[int] = set()  # keys of pages whose worker was killed
        self._given_up: dict[int, str] = {}  # how a worker died, by the keys of pages not handed over any more

    async def start(self) -> None:
        """Start all processes; raise WorkerError if one cannot be started."""
        await asyncio.gather(*(worker.do(lambda _: Task("start", None, ())) for worker in self._workers))

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

    async def clean(self, page: Page, *, warm: bool) -> CleanedPage:
        """Have ``page`` cleaned."""
        cleaned: CleanedPage = await self._do("clean", page, warm)
        return cleaned

    async def raw(self, page: Page) -> CleanedPage:
        """Return ``page`` with all of its text."""
        cleaned: CleanedPage = await self._do("raw", page)
        return cleaned

    async def part(self, page: Page, cleaned: CleanedPage, part: str) -> CleanPage:
        """Return the clean text of a part of a cleaned page; raise PartError if the part is not there."""
        before = cleaned.clean_page
        found: CleanPage | MissingPart = await self._do("part", page, part, before.method, bool(before.warm))
        if isinstance(found, MissingPart):
            raise PartError(found.message)
        found.unchanged = before.unchanged  # the worker may have cleaned the page again
        return found

    async def preview(self, page: Page) -> CleanedPage:
        """Have ``page`` cleaned for somebody who looks at it."""
        cleaned: CleanedPage = await self._do("preview", page)
        return cleaned

    async def save(self, site: str | None) -> None:
        """Have kept what is known of ``site``, None: of all sites."""
        if site is not None:
            with suppress(AskAgainError):  # the dead worker knew it, so there is nothing to save
                await self._worker_of(site).do(lambda _: Task("save", None, (site,)))
                self._unsaved.discard(site)
            return
        running = [worker for worker in self._workers if worker.has_process]
        await asyncio.gather(*(worker.do(lambda _: Task("save", None, (None,))) for worker in running))

    async def close(self) -> None:
        """End the processes."""
        await asyncio.gather(*(worker.close() for worker in self._workers))

    def pages_known(self, site: str) -> int:
        """Return how many pages of ``site`` are known, by what is kept of it."""
        known = self._knowledge.get(site)
        return 0 if known is None else self._job.choice.knowing([known], site).pages_known

    def view(self, page: Page) -> Cleaned:
        """Clean ``page`` here, by what was kept of its site."""
        saved = InMemoryKnowledge(below=self._knowledge)
        return PageCleaner(self._job, saved, lambda _: nullcontext()).preview(page)

    # --- what the workers ask for

    def known(self, site: str) -> bytes | None:
        """Return what is known of ``site``."""
        return self._knowledge.get(site)

    def keep(self, site: str, known: bytes) -> bool:
        """Keep what is ``known`` of ``site``; return whether that worked."""
        return self._knowledge.put(site, known)

    def log(self, line: Logged) -> None:
        """Log a line of a worker."""
        logging.getLogger(line.name).log(line.level, "%s", line.message)

    def count_seconds(self, seconds: dict[str, float]) -> None:
        """Count the seconds of a task, by stage."""
        for stage, spent in seconds.items():
            self._counts.add_seconds(stage, spent)

    # --- the workers

    def _worker_of(self, site: str) -> Worker:
        return self._workers[worker_number(site, len(self._workers))]

    async def _do(self, name: str, page: Page, *given: Any) -> Any:
        def make(window: PageWindow[None]) -> Task:
            return Task(name, self._handed(page, window), given)

        while page.key not in self._given_up:
            try:
                return await self._worker_of(page.site).do(make)
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

    def _handed(self, page: Page, window: PageWindow[None]) -> HandedPage:
        """Return what is sent of a page: not its HTML if the worker still has it."""
        if page not in self._numbers:
            self._numbers[page] = self._next_number()
        number = self._numbers[page]
        if window.has(number):
            return HandedPage(number, page.url, page.site, None)
        html = page.markup
        window.add(number, len(html), None)
        return HandedPage(number, page.url, page.site, html)

    def _forget(self, worker: Worker) -> None:
        self._counts.add("workers_died")
        lost = {site for site in self._unsaved if self._worker_of(site) is worker}
        self._unsaved -= lost
        self.lost |= lost


def _check_picklable(begin: Begin) -> None:
    try:
        encode(begin)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SettingError(
            f"DENOISE_WORKERS is set, but an option cannot be given to another process ({error}): set it to 0, or "
            "give options that can be pickled"
        ) from None
