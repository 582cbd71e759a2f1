"""What one crawl knows of its sites: it learns their pages, counts them up to the quota, and judges them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

from denoise_crawler.crawl.ending import OverdueSite, WarmupClocks
from denoise_crawler.crawl.guarded_store import GuardedStore
from denoise_crawler.crawl.page_cleaner import Learned, PageCleaner
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.source_page import SourcePage
from denoise_crawler.errors import describe_error
from denoise_crawler.methods.base import Knowledge
from denoise_crawler.page import Page
from denoise_crawler.page.text import printable
from denoise_crawler.store import SiteRun, SiteState, Store
from denoise_crawler.store.shared import SharedStore, StoredKnowledge

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
    """Has the pages of sites learned and judged.

    ``store`` keeps the progress of the sites, and what was learned of them unless DENOISE_SHARED_STORE is set.
    """

    def __init__(self, settings: DenoiseSettings, store: GuardedStore, report: CrawlReport) -> None:
        self._settings, self._store, self._report = settings, store, report
        self._key = settings.choice.key
        self._progress: dict[str, SiteProgress] = {}
        self._begun = time.time_ns() // 1_000_000
        self._clocks = WarmupClocks(settings.warmup_seconds, settings.warmup_longest)
        self._newly_known: set[str] = set()
        self.cleaner = PageCleaner(settings.cleaning(), self._knowledge(), report.timed)

    def start(self) -> None:
        """Load now what the method loads once, so that no page waits for it."""
        self._settings.choice.prepare()

    def learn(self, source: SourcePage) -> None:
        """Learn a page, if it has anything to read. A new one counts towards the quota of its site."""
        try:
            source.skipped = self._learn(source.page)
            source.looked_at = True
        except Exception as error:  # the page can still be judged
            self._fail(source, error)

    def clean(self, source: SourcePage) -> None:
        """Judge a page, once, by what is known of its site now; write its text."""
        if source.cleaned is not None or source.failed:
            return
        try:
            self.look(source)
            if not (source.skipped or source.failed):
                source.cleaned = self.cleaner.clean(source.page, warm=self.is_ready(source.page.site))
                run = self.progress(source.page.site).run
                run.visible += source.cleaned.visible
                run.kept += source.cleaned.kept
                self._report.page_cleaned(
                    source, source.cleaned, self._settings.writing, self._settings.choice.name
                )
        except Exception as error:  # its items leave without a text
            source.failed = True
            self._fail(source, error)

    def look(self, source: SourcePage) -> None:
        """Find out whether there is anything to read on a page."""
        try:
            if not (source.looked_at or source.failed):
                source.skipped = source.page.skipped
                source.looked_at = True
        except Exception as error:
            source.failed = True
            self._fail(source, error)

    def _fail(self, source: SourcePage, error: Exception) -> None:
        """Report, inside an ``except`` block, that a page cannot be cleaned: once, however many items it has."""
        if source.error is None:
            source.error = describe_error(error)
            self._report.page_failed(source.page.url)

    def _learn(self, page: Page) -> str | None:
        """Learn ``page``; return why it has nothing to read, None if it has something."""
        progress = self.progress(page.site)
        try:
            learned = self.cleaner.learn(page, ready=progress.ready)
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
            self._count_page(page, progress)
        return None

    def _keep_sample(self, page: Page, progress: SiteProgress) -> None:
        """Keep ``page`` in the store as one of the site's first pages, if that is asked for."""
        if (most := self._settings.sample_pages) and not progress.sampled:
            progress.sampled = not self._store.safely(
                False, Store.keep_sample, page.site, page.url, page.markup, most
            )

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

    def save(self, site: str) -> None:
        """Write what is known of ``site``, so that the next crawl starts from there."""
        self.cleaner.save(site)
        self._save_state(site, self._progress[site])

    def save_all(self) -> None:
        """Write what is known of all sites."""
        with self._store.together():
            self.cleaner.save(None)
            for name, progress in self._progress.items():
                if progress.pages_seen:
                    self._save_state(name, progress)
                if progress.run.pages and self._settings.choice.learns:
                    self._store.safely(None, Store.save_run, name, self._key, progress.run)

    def _save_state(self, site: str, progress: SiteProgress) -> None:
        self._store.safely(None, Store.save_state, site, self._key, SiteState(progress.pages_seen, progress.ready))

    def _note_page(self, site: str, progress: SiteProgress, *, new: bool) -> None:
        if self.have_time_limit and not (progress.ready or progress.overdue):
            self._clocks.note(site, new=new)

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
        self._clocks.stop(site)
        self._newly_known.add(site)
        self._report.count("sites_ready")
        self.save(site)

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
