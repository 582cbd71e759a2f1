"""What one crawl knows of its sites: it learns their pages, counts them up to the quota, and judges them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import is_asyncio_available

from denoise_crawler.crawl.ending import OverdueSite, WarmupClocks
from denoise_crawler.crawl.event_loop import SiteTurns
from denoise_crawler.crawl.guarded_store import GuardedStore
from denoise_crawler.crawl.page_cleaner import InlineCleaner, Learned
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.source_page import SourcePage
from denoise_crawler.denoiser import Cleaned
from denoise_crawler.errors import AskAgainError, GivenUpError, WorkerError, describe_error
from denoise_crawler.methods.base import Knowledge
from denoise_crawler.page import Page
from denoise_crawler.page.text import printable
from denoise_crawler.store import SiteRun, SiteState, Store
from denoise_crawler.store.shared import SharedStore, StoredKnowledge

if TYPE_CHECKING:
    from denoise_crawler.crawl.workers_cleaner import WorkersCleaner

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class SiteProgress:
    """How far the warm-up of a site has come.

    Attributes:
        pages_seen: How many different pages were learned.
        ready: Whether the quota of pages is reached.
        keys: The keys of those pages, until the site is ready.
        overdue: Whether the time for the warm-up is over.
        sampled: Whether the store has enough samples of the site.
        items_cleaned: How many items have got the text of their page.
        run: What this run saw of the site.
    """

    pages_seen: int
    ready: bool
    run: SiteRun
    keys: set[int] = field(default_factory=set)
    overdue: bool = False
    sampled: bool = False
    items_cleaned: int = 0


class Sites:
    """Has the pages of sites learned and judged, here or by worker processes.

    ``store`` keeps the progress of the sites, and what was learned of them unless DENOISE_SHARED_STORE is set.

    Attributes:
        turns: The turns in which pages are learned and judged.
    """

    def __init__(self, settings: DenoiseSettings, store: GuardedStore, report: CrawlReport) -> None:
        self._settings, self._store, self._report = settings, store, report
        self._key = settings.choice.key
        self._progress: dict[str, SiteProgress] = {}
        self._begun = time.time_ns() // 1_000_000
        self.turns = SiteTurns()
        self._clocks = WarmupClocks(settings.warmup_seconds, settings.warmup_longest)
        self._newly_known: set[str] = set()
        self._cleaning = settings.cleaning()
        self.cleaner: InlineCleaner | WorkersCleaner = InlineCleaner(
            self._cleaning, self._knowledge(), report.timed
        )
        if settings.workers:
            self._use_workers()
        self._relearning = asyncio.Lock()
        self._starting: asyncio.Future[None] | None = None
        self._waiting_pages: Callable[[str], Iterable[Page]] = lambda _: ()

    def relearn_from(self, waiting_pages: Callable[[str], Iterable[Page]]) -> None:
        """Say where the pages of a site are that wait, for the case that a worker process dies that knew them."""
        self._waiting_pages = waiting_pages

    def start(self) -> None:
        """Start the worker processes, if there are to be any. Pages wait for that, nothing else does.

        Else what the method loads once is loaded now, so that no page waits for it.
        """
        if isinstance(self.cleaner, InlineCleaner):
            self._cleaning.choice.prepare()
        else:
            self._starting = asyncio.ensure_future(self._start())

    async def _start(self) -> None:
        try:
            await self.cleaner.start()
        except Exception as error:  # without processes the pages can still be cleaned
            logger.error("%s. This crawl cleans its pages itself, as with DENOISE_WORKERS = 0.", printable(error))
            await self.cleaner.close()
            self.cleaner = InlineCleaner(self._cleaning, self._knowledge(), self._report.timed)
        finally:
            self._starting = None

    async def _started(self) -> None:
        if self._starting is not None:
            await asyncio.shield(self._starting)

    async def learn(self, source: SourcePage) -> None:
        """Learn a page in its turn, if it has anything to read. A new one counts towards the quota of its site."""
        try:
            source.skipped = await self._learn(source.page)
            source.looked_at = True
        except Exception as error:  # the page can still be judged
            self._fail(source, error)

    async def clean(self, source: SourcePage) -> None:
        """Judge a page in its turn, once, by what is known of its site now; write its text."""
        if source.cleaned is not None or source.failed:
            return
        try:
            await self.look(source)
            if not (source.skipped or source.failed):
                source.cleaned = await self._clean(source.page)
                run = self.progress(source.page.site).run
                run.visible += source.cleaned.visible
                run.kept += source.cleaned.kept
                self._report.page_cleaned(
                    source, source.cleaned, self._settings.writing, self._settings.choice.name
                )
        except Exception as error:  # its items leave without a text
            source.failed = True
            self._fail(source, error)

    async def look(self, source: SourcePage) -> None:
        """Find out whether there is anything to read on a page."""
        try:
            if not (source.looked_at or source.failed):
                source.skipped = await self.skipped(source.page)
                source.looked_at = True
        except Exception as error:
            source.failed = True
            self._fail(source, error)

    async def skipped(self, page: Page) -> str | None:
        """Return why ``page`` has nothing to read, None if it has something."""
        await self._started()
        return await self.cleaner.skipped(page)

    def _fail(self, source: SourcePage, error: Exception) -> None:
        """Report, inside an ``except`` block, that a page cannot be cleaned: once, however many items it has."""
        if source.error is None:
            source.error = describe_error(error)
            if not isinstance(error, GivenUpError):
                self._report.page_failed(source.page.url)

    async def _learn(self, page: Page) -> str | None:
        """Learn ``page``; return why it has nothing to read, None if it has something."""
        await self._started()
        progress = self.progress(page.site)
        try:
            await self._learn_lost(page.site)
            learned = await self.cleaner.learn(page, ready=progress.ready)
        except Exception:
            self._note_page(page.site, progress, new=False)
            raise
        if learned.skipped:
            return learned.skipped
        _count_learned(progress.run, learned)
        new = learned.new and not progress.ready and page.key not in progress.keys
        self._note_page(page.site, progress, new=new)
        self._keep_sample(page, progress)
        if learned.layout:
            self._report_new_layout(page.site, learned.layout)
        elif new:
            await self._count_page(page, progress)
        return None

    def _keep_sample(self, page: Page, progress: SiteProgress) -> None:
        """Keep ``page`` in the store as one of the site's first pages, if that is asked for."""
        if (most := self._settings.sample_pages) and not progress.sampled:
            progress.sampled = not self._store.safely(
                False, Store.keep_sample, page.site, page.url, page.markup, most
            )

    async def _clean(self, page: Page) -> Cleaned:
        while True:
            await self._learn_lost(page.site)
            with suppress(AskAgainError):
                return await self.cleaner.clean(page, warm=self.is_ready(page.site))

    def is_ready(self, site: str) -> bool:
        """Return True if the quota of ``site`` is reached."""
        return self.progress(site).ready

    def must_wait(self, site: str) -> bool:
        """Return True if items of ``site`` have to wait: its quota is not reached, and its time is not over."""
        progress = self.progress(site)
        return not (progress.ready or progress.overdue)

    @property
    def have_time_limit(self) -> bool:
        """Whether the warm-up of a site ends after a time."""
        longest = max(self._settings.warmup_seconds, self._settings.warmup_longest)
        return self._settings.short_sites == "clean" and longest > 0

    def take_overdue(self) -> list[OverdueSite]:
        """Return the sites whose warm-up time has just ended; from now on none of their items waits."""
        found = self._clocks.take_overdue()
        for site, _ in found:
            self._progress[site].overdue = True
        return found

    def take_newly_known(self, site: str) -> int:
        """Return by how many pages ``site`` is known if its warm-up has ended since the last call, else 0."""
        if site not in self._newly_known:
            return 0
        self._newly_known.discard(site)
        return self._progress[site].pages_seen

    def progress(self, site: str) -> SiteProgress:
        """Return how far the warm-up of ``site`` has come."""
        if site not in self._progress:
            state = self._store.safely(SiteState(), Store.site, site, self._key)
            ready = state.ready or not self._settings.choice.learns or self._settings.warmup_pages == 0
            if not ready and self._settings.shared_store:  # another crawl may have learned it
                ready = self.cleaner.pages_known(site) >= self._settings.warmup_pages
            self._progress[site] = SiteProgress(state.pages_seen, ready, SiteRun(self._begun))
        return self._progress[site]

    def all_progress(self) -> Iterator[tuple[str, SiteProgress]]:
        """Yield each site of this crawl with its progress."""
        yield from self._progress.items()

    async def save(self, site: str) -> None:
        """Write what is known of ``site``, so that the next crawl starts from there."""
        await self.cleaner.save(site)
        self._save_state(site, self._progress[site])

    async def save_all(self) -> None:
        """Write what is known of all sites."""
        with self._store.together():
            await self.cleaner.save(None)
            for name, progress in self._progress.items():
                if progress.pages_seen:
                    self._save_state(name, progress)
                if progress.run.pages and self._settings.choice.learns:
                    self._store.safely(None, Store.save_run, name, self._key, progress.run)

    def _save_state(self, site: str, progress: SiteProgress) -> None:
        self._store.safely(None, Store.save_state, site, self._key, SiteState(progress.pages_seen, progress.ready))

    async def _learn_lost(self, site: str) -> None:
        """Learn the waiting pages of a site again that a dead worker process knew."""
        if site not in self.cleaner.lost:
            return
        async with self._relearning:  # what needs the site waits until it is known again
            if site not in self.cleaner.lost:
                return
            for page in self._waiting_pages(site):
                with suppress(WorkerError):  # it was reported when the page came
                    await self.cleaner.learn(page, ready=False)
            self.cleaner.lost.discard(site)
            if self.is_ready(site):  # the next crawl takes it for known
                await self.cleaner.save(site)

    def _note_page(self, site: str, progress: SiteProgress, *, new: bool) -> None:
        if self.have_time_limit and not (progress.ready or progress.overdue):
            self._clocks.note(site, new=new)

    async def _count_page(self, page: Page, progress: SiteProgress) -> None:
        progress.keys.add(page.key)
        progress.pages_seen += 1
        quota = self._settings.warmup_pages
        if progress.pages_seen >= quota:
            await self._finish_warmup(page.site, progress)
        elif progress.pages_seen % ceil(quota / 4) == 0:
            logger.info("%s: %d of %d pages until it is known", printable(page.site), progress.pages_seen, quota)

    async def _finish_warmup(self, site: str, progress: SiteProgress) -> None:
        progress.ready = True
        progress.keys.clear()
        self._clocks.stop(site)
        self._newly_known.add(site)
        self._report.count("sites_ready")
        await self.save(site)

    def _report_new_layout(self, site: str, layout: str) -> None:
        self._report.count("drifts")
        self._store.safely(
            None, Store.save_state, layout, self._key, SiteState(self._settings.warmup_pages, ready=True)
        )
        logger.warning(
            "%s has pages unlike those it is known by: it was redesigned, or has another section. %d of them "
            "match each other; from now on such pages are judged by each other, as %s",
            printable(site),
            self._settings.warmup_pages,
            printable(layout),
        )

    def _use_workers(self) -> None:
        if not is_asyncio_available():
            logger.warning(
                "DENOISE_WORKERS needs the event loop of asyncio, and TWISTED_REACTOR names another: this crawl "
                "cleans its pages itself"
            )
            return
        from denoise_crawler.crawl.workers_cleaner import WorkersCleaner

        number, seconds, core = self._settings.workers, self._settings.page_seconds, self._settings.core
        self.cleaner = WorkersCleaner(self._cleaning, number, seconds, core, self._knowledge(), self._report)

    def _knowledge(self) -> Knowledge:
        """Return what is known of sites: in the store, or in a store that several crawls share."""
        choice = self._settings.choice
        if not self._settings.shared_store:
            return self._store.knowledge_by(choice)
        shared = SharedStore(self._settings.shared_store)
        return StoredKnowledge(shared, choice, on_error=self._report_shared_store)

    def _report_shared_store(self, error: Exception) -> None:
        self._report.first(
            "store_errors",
            "%s. This crawl goes on with what it learns itself and writes it as soon as that works.",
            error,
            level=logging.ERROR,
        )


def _count_learned(run: SiteRun, learned: Learned) -> None:
    run.pages += 1
    run.layouts += learned.layout is not None
    if learned.novelty is not None:
        run.compared += 1
        run.novelty += round(1_000 * learned.novelty)
    if learned.template is not None:
        run.template = learned.template
