"""What one crawl knows of its sites: it learns their pages, counts them up to the quota, and judges them."""

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
from denoise_crawler.rules import SiteRules
from denoise_crawler.store import SiteState
from denoise_crawler.store.shared import SharedStore
from denoise_crawler.store.stored_knowledge import StoredKnowledge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.guarded_store import GuardedStore
    from denoise_crawler.crawl.settings import DenoiseSettings
    from denoise_crawler.denoiser import Cleaned
    from denoise_crawler.methods.site_knowledge import Knowledge
    from denoise_crawler.output.clean_page import CleanPage
    from denoise_crawler.page import Page

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class SiteProgress:
    """How far the warm-up of a site has come.

    Attributes:
        pages_seen: How many different pages were learned.
        ready: Whether the quota of pages is reached.
        keys: The keys of those pages, until the site is ready.
        first_seen: When the first page came, in seconds of :func:`time.monotonic`; None before.
        overdue: Whether the time for the warm-up is over.
    """

    pages_seen: int
    ready: bool
    keys: set[int] = field(default_factory=set)
    first_seen: float | None = None
    overdue: bool = False


class Sites:
    """Learns the pages of sites and judges them.

    Args:
        settings: The settings of the crawl.
        store: Keeps the progress of the sites, and what was learned of them unless DENOISE_SHARED_STORE is set.
        counts: The stats.
    """

    def __init__(self, settings: DenoiseSettings, store: GuardedStore, counts: Counts) -> None:
        self._settings, self._store, self._counts = settings, store, counts
        self._key = settings.choice.key
        self._progress: dict[str, SiteProgress] = {}
        self._timed_sites: deque[str] = deque()  # sites whose warm-up has a deadline, in order
        self._denoiser = Denoiser(
            settings.choice,
            knowledge=self._knowledge(),
            sites_in_memory=settings.sites_in_memory,
            writing=settings.writing,
            rules=SiteRules.of_folder(settings.site_rules),
        )
        self._layouts = Layouts(
            self._denoiser,
            settings.warmup_pages,
            new_method=settings.choice.new,
            on_new_layout=self._on_new_layout,
            sites_in_memory=settings.sites_in_memory,
        )

    def learn(self, page: Page) -> None:
        """Learn ``page``. A new page counts towards the quota of its site."""
        progress = self.progress(page.site)
        if progress.first_seen is None:
            progress.first_seen = time.monotonic()
            if self.have_time_limit and not progress.ready:
                self._timed_sites.append(page.site)
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

    def preview(self, page: Page) -> Cleaned:
        """Clean ``page`` again for somebody who looks at it; nothing is counted or remembered."""
        return self._denoiser.clean(page, method=self._layouts.method_for(page), watch=False)

    def part(self, cleaned: Cleaned, part: str) -> CleanPage:
        """Return the clean text of a part of a cleaned page; raise PartError if the part is not there."""
        with self._counts.timed("write"):
            return self._denoiser.part(cleaned, part)

    def raw(self, page: Page) -> Cleaned:
        """Return ``page`` with all of its text."""
        return self._denoiser.raw(page)

    def is_ready(self, site: str) -> bool:
        """Tell whether the quota of ``site`` is reached."""
        return self.progress(site).ready

    def must_wait(self, site: str) -> bool:
        """Tell whether items of ``site`` have to wait: its quota is not reached, and its time is not over."""
        progress = self.progress(site)
        return not (progress.ready or progress.overdue)

    @property
    def have_time_limit(self) -> bool:
        """Whether the warm-up of a site ends after a time."""
        return self._settings.short_sites == "clean" and self._settings.warmup_seconds > 0

    def take_overdue(self) -> list[str]:
        """Return the sites whose warm-up time has just ended; from now on none of their items waits."""
        found = []
        while self._timed_sites and self._is_overdue(self._progress[self._timed_sites[0]]):
            site = self._timed_sites.popleft()
            progress = self._progress[site]
            if not progress.ready:
                progress.overdue = True
                found.append(site)
        return found

    def progress(self, site: str) -> SiteProgress:
        """Return how far the warm-up of ``site`` has come."""
        if site not in self._progress:
            state = self._store.site(site, self._key)
            ready = state.ready or not self._denoiser.learns or self._settings.warmup_pages == 0
            if not ready and self._settings.shared_store:  # another crawl may have learned it
                ready = self._denoiser.method_for(site).pages_known >= self._settings.warmup_pages
            self._progress[site] = SiteProgress(state.pages_seen, ready)
        return self._progress[site]

    def all_progress(self) -> Iterator[tuple[str, SiteProgress]]:
        """Yield each site of this crawl with its progress."""
        yield from self._progress.items()

    def save(self, site: str | None = None) -> None:
        """Write what is known of ``site`` (None: of all sites), so that the next crawl starts from there."""
        self._denoiser.save(site)
        for name, progress in self._progress.items():
            if progress.pages_seen and site in (None, name):
                self._store.save_state(name, self._key, SiteState(progress.pages_seen, progress.ready))

    def _is_overdue(self, progress: SiteProgress) -> bool:
        assert progress.first_seen is not None  # noqa: S101 - set by learn
        return time.monotonic() - progress.first_seen > self._settings.warmup_seconds

    def _count_page(self, page: Page, progress: SiteProgress) -> None:
        progress.keys.add(page.key)
        progress.pages_seen += 1
        quota = self._settings.warmup_pages
        if progress.pages_seen >= quota:
            self._finish_warmup(page.site, progress)
        elif progress.pages_seen % ceil(quota / 4) == 0:
            logger.info("%s: %d of %d pages until it is known", printable(page.site), progress.pages_seen, quota)

    def _finish_warmup(self, site: str, progress: SiteProgress) -> None:
        progress.ready = True
        progress.keys.clear()
        self._counts.add("sites_ready")
        self.save(site)
        waiting = self._store.waiting_count(site, inherited=bool(self._settings.job))
        logger.info("%s is known after %d pages; %d items go on", printable(site), progress.pages_seen, waiting)

    def _on_new_layout(self, site: str, layout: str) -> None:
        self._counts.add("drifts")
        self._store.save_state(layout, self._key, SiteState(self._settings.warmup_pages, ready=True))
        logger.warning(
            "%s has pages unlike those it is known by: it was redesigned, or has another section. %d of them "
            "match each other; from now on such pages are judged by each other, as %s",
            printable(site),
            self._settings.warmup_pages,
            printable(layout),
        )

    def _knowledge(self) -> Knowledge:
        """Return what is known of sites: in the store, or in a store that several crawls share."""
        choice = self._settings.choice
        if not self._settings.shared_store:
            return self._store.knowledge_by(choice)
        shared = SharedStore(self._settings.shared_store)
        return GuardedKnowledge(StoredKnowledge(shared, choice), self._report_shared_store)

    def _report_shared_store(self, error: Exception) -> None:
        if not self._counts.add("store_errors"):
            logger.error(
                "%s. This crawl goes on with what it learns itself and writes it as soon as that works.", error
            )
