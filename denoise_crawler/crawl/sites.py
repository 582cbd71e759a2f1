"""What one crawl knows of its sites: their pages are learned, counted up to the quota, and judged."""

from __future__ import annotations

import logging
import time
from collections import deque
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from denoise_crawler.crawl.drift import Layouts
from denoise_crawler.crawl.guarded_store import GuardedKnowledge
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.page.text import printable
from denoise_crawler.store import SiteState
from denoise_crawler.store.shared import SharedStore
from denoise_crawler.store.stored_knowledge import StoredKnowledge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.guarded_store import GuardedStore
    from denoise_crawler.crawl.settings import DenoiseSettings
    from denoise_crawler.denoiser import Cleaned
    from denoise_crawler.methods.knowledge import Knowledge
    from denoise_crawler.output.clean_page import CleanPage
    from denoise_crawler.page import Page

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Progress:
    """How far the warm-up of a site has come.

    ``ready`` says that the quota of pages is reached, ``first_seen`` when the first page came (seconds of
    :func:`time.monotonic`; None before), ``overdue`` that the time for the warm-up is over.
    """

    pages_seen: int
    ready: bool
    keys: set[int] = field(default_factory=set)
    first_seen: float | None = None
    overdue: bool = False


class Sites:
    """Learns the pages of sites and judges them.

    Args:
        settings: Those of the crawl.
        store: Where the progress of sites lies, and what is known of them, unless crawls share that elsewhere.
        counts: The stats.
    """

    def __init__(self, settings: DenoiseSettings, store: GuardedStore, counts: Counts) -> None:
        self._settings, self._store, self._counts = settings, store, counts
        self._key = settings.choice.key
        self._progress: dict[str, Progress] = {}
        self._in_time: deque[str] = deque()  # sites whose time for the warm-up runs, the first seen first
        self._denoiser = Denoiser(
            settings.choice,
            knowledge=self._knowledge(),
            sites_in_memory=settings.sites_in_memory,
            writing=settings.writing,
        )
        self._layouts = Layouts(
            self._denoiser,
            settings.warmup_pages,
            fresh=settings.choice.new,
            drifted=self._drifted,
            sites_in_memory=settings.sites_in_memory,
        )

    def learn(self, page: Page) -> None:
        """Add ``page`` to what is known of its site; count it, if it is new, towards the quota."""
        progress = self.progress(page.site)
        if progress.first_seen is None:
            progress.first_seen = time.monotonic()
            if self.have_a_time and not progress.ready:
                self._in_time.append(page.site)
        if not self._denoiser.learns:
            return
        with self._counts.timed("learn"):
            if progress.ready:
                self._layouts.learn(page)
                return
            method = self._denoiser.method_for(page.site)
            new = page.key not in progress.keys and not method.knows(page)
            method.observe(page)
        if new:
            self._count_page(page, progress)

    def clean(self, page: Page) -> Cleaned:
        """Judge ``page`` by what is known of its site now, and write its text."""
        with self._counts.timed("judge"):
            judgement = self._denoiser.judge(page, method=self._layouts.method_for(page))
        with self._counts.timed("write"):
            return self._denoiser.write(page, judgement, warm=self.is_ready(page.site))

    def clean_again(self, page: Page) -> Cleaned:
        """Do the same for somebody who looks at a page: nothing is counted."""
        return self._denoiser.clean(page, method=self._layouts.method_for(page))

    def part(self, cleaned: Cleaned, part: str) -> CleanPage:
        """Return the clean page of a part of a page that was cleaned; raise PartError where it is not there."""
        with self._counts.timed("write"):
            return self._denoiser.part(cleaned, part)

    def raw(self, page: Page) -> Cleaned:
        """Write all text of ``page``."""
        return self._denoiser.raw(page)

    def is_ready(self, site: str) -> bool:
        """Tell whether the warm-up of ``site`` is over because the quota was reached."""
        return self.progress(site).ready

    def must_wait(self, site: str) -> bool:
        """Tell whether items of ``site`` have to wait until more pages are known, or the time is over."""
        progress = self.progress(site)
        return not (progress.ready or progress.overdue)

    @property
    def have_a_time(self) -> bool:
        """Whether the warm-up of a site is over after a time."""
        return self._settings.short_sites == "clean" and self._settings.warmup_seconds > 0

    def overdue(self) -> list[str]:
        """Return the sites whose time for the warm-up has just passed; from now on nothing of them waits."""
        found = []
        while self._in_time and self._is_late(self._progress[self._in_time[0]]):
            site = self._in_time.popleft()
            progress = self._progress[site]
            if not progress.ready:
                progress.overdue = True
                found.append(site)
        return found

    def progress(self, site: str) -> Progress:
        """Return how far the warm-up of ``site`` has come."""
        if site not in self._progress:
            state = self._store.site(site, self._key)
            ready = state.ready or not self._denoiser.learns or self._settings.warmup_pages == 0
            if not ready and self._settings.shared_store:  # other crawls may have learned it
                ready = self._denoiser.method_for(site).pages_known >= self._settings.warmup_pages
            self._progress[site] = Progress(state.pages_seen, ready)
        return self._progress[site]

    def all_progress(self) -> Iterator[tuple[str, Progress]]:
        """Yield each site of this crawl with its progress."""
        yield from self._progress.items()

    def save(self, site: str | None = None) -> None:
        """Write what is known of ``site``, None: of all sites, so that the next crawl starts from there."""
        self._denoiser.save(site)
        for name, progress in self._progress.items():
            if progress.pages_seen and site in (None, name):
                self._store.save_state(name, self._key, SiteState(progress.pages_seen, progress.ready))

    def _is_late(self, progress: Progress) -> bool:
        assert progress.first_seen is not None  # noqa: S101 - its time runs
        return time.monotonic() - progress.first_seen > self._settings.warmup_seconds

    def _count_page(self, page: Page, progress: Progress) -> None:
        progress.keys.add(page.key)
        progress.pages_seen += 1
        quota = self._settings.warmup_pages
        if progress.pages_seen >= quota:
            self._became_ready(page.site, progress)
        elif progress.pages_seen % ceil(quota / 4) == 0:
            logger.info("%s: %d of %d pages until it is known", printable(page.site), progress.pages_seen, quota)

    def _became_ready(self, site: str, progress: Progress) -> None:
        progress.ready = True
        progress.keys.clear()
        self._counts.add("sites_ready")
        self.save(site)
        waiting = self._store.waiting_count(site, inherited=bool(self._settings.job))
        logger.info("%s is known after %d pages; %d items go on", printable(site), progress.pages_seen, waiting)

    def _drifted(self, site: str, layout: str) -> None:
        self._counts.add("drifts")
        self._store.save_state(layout, self._key, SiteState(self._settings.warmup_pages, ready=True))
        logger.warning(
            "%s has pages unlike those it is known by: it was redesigned, or has another part. %d of them are "
            "alike; from now on such pages are judged by each other, as %s",
            printable(site),
            self._settings.warmup_pages,
            printable(layout),
        )

    def _knowledge(self) -> Knowledge:
        """Return where what is known of sites lies: in the store, or where several crawls share it."""
        choice = self._settings.choice
        if not self._settings.shared_store:
            return self._store.knowledge_by(choice)
        shared = SharedStore(self._settings.shared_store)
        return GuardedKnowledge(StoredKnowledge(shared, choice), self._shared_store_failed)

    def _shared_store_failed(self, error: Exception) -> None:
        if not self._counts.add("store_errors"):
            logger.error(
                "%s. This crawl goes on with what it learns itself and writes it as soon as that works.", error
            )
