"""Warm-up: items wait in the store until their site is known, then they are cleaned and go on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from scrapy import signals

from denoise_crawler.crawl.counts import Counts, summary
from denoise_crawler.crawl.ending import Ending
from denoise_crawler.crawl.event_loop import Turns, pause
from denoise_crawler.crawl.failures import Failures
from denoise_crawler.crawl.feed_results import feeds_are_safe
from denoise_crawler.crawl.filling import Filler
from denoise_crawler.crawl.guarded_store import GuardedStore
from denoise_crawler.crawl.meanwhile import Meanwhile
from denoise_crawler.crawl.outcomes import Outcomes
from denoise_crawler.crawl.owner import owner_of
from denoise_crawler.crawl.replay import Replay
from denoise_crawler.crawl.scrapy_versions import scheduler_of
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.sites import Sites
from denoise_crawler.crawl.waiting_items import WaitingItems
from denoise_crawler.errors import PartError
from denoise_crawler.page.text import printable
from denoise_crawler.store.damage import open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Iterator

    from scrapy.crawler import Crawler

    from denoise_crawler.crawl.batches import Waited
    from denoise_crawler.crawl.source import Source
    from denoise_crawler.denoiser import Cleaned

logger = logging.getLogger(__name__)


class Warmup:
    """Takes the items of a crawl: learns their pages, lets them wait, cleans them. One per crawler: :meth:`of`.

    ``by_addon`` says that the spider middleware of the add-on hands the items over; the pipelines then let
    everything pass.
    """

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, Warmup]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        self.settings = DenoiseSettings.from_settings(crawler.settings)
        self.filler = Filler(self.settings)
        self.counts = Counts(crawler)
        self.outcomes = Outcomes(self.counts, self.filler)
        self.by_addon = False
        self._failures = Failures(self.settings, self.counts)
        self._crawler = crawler
        self._store = GuardedStore(
            open_store(self.settings.store, owner=owner_of(crawler), job=self.settings.job), self._failures.store
        )
        self.sites = Sites(self.settings, self._store, self.counts)
        self.waiting = WaitingItems(crawler, self._store, self.counts)
        self._sites_that_wait: set[str] = set()
        self._releasing: set[str] = set()
        self._replay = Replay(crawler)
        self._turns = Turns()
        self._ending = Ending(crawler, self._release_all, self._is_paused)
        if self.sites.have_a_time:
            self._meanwhile = Meanwhile(crawler, self._release_meanwhile)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._stopped, signals.engine_stopped)

    @classmethod
    def of(cls, crawler: Crawler) -> Warmup:
        """Return the warm-up of ``crawler``; raise SettingError or StoreError if it cannot be set up."""
        if crawler not in cls._of_crawler:
            cls._of_crawler[crawler] = cls(crawler)
        return cls._of_crawler[crawler]

    # --- an item comes

    async def take(self, item: Any, source: Source | None, refused: list[Waited]) -> Any | None:
        """Take an item from the spider.

        Args:
            item: The item.
            source: The page it came from, None if there is none.
            refused: A list that gets items that were to wait and could not be written: see :meth:`refused`.

        Returns:
            The item that goes on now, filled if there is anything to fill it with. None if it waits: it will go
            through the pipelines by itself.
        """
        if await self._is_to_wait(item, source, refused):
            return None
        return self.go_on(item, source)

    def refused(self, refused: list[Waited]) -> Iterator[Any]:
        """Yield the items, filled, that were to wait and could not be written; the list is empty then."""
        while refused:
            yield self.go_on(*refused.pop(0))

    def refused_at_last(self, refused: list[Waited]) -> Iterator[Any]:
        """Write all that is to wait, and yield what is refused: no more comes into the list."""
        self.waiting.write()
        yield from self.refused(refused)

    async def waits(self, item: Any, source: Source | None) -> bool:
        """Learn the page of ``item``; tell whether it waits. What may go on by now goes on first."""
        refused: list[Waited] = []
        if not await self._is_to_wait(item, source, refused):
            return False
        await pause()  # other items of the page come meanwhile, and are written with this one
        self.waiting.write()
        return not refused

    async def _is_to_wait(self, item: Any, source: Source | None, refused: list[Waited]) -> bool:
        """Learn the page of ``item``; tell whether it is to wait. What may go on by now goes on first."""
        waits = False
        try:
            if self._is_opted_out(item) or source is None or not self.is_readable(source):
                return False
            self.meet(source)
            await self._turns.let_others_work()
            waits = self._must_wait(source) and self.filler.can_fill(item) and self._park(item, source, refused)
            await self._release_what_may_go(source.page.site)
        except Exception:  # a mistake of ours must not cost the item
            self.page_failed(source.page.url if source is not None else "A page")
        return waits

    def meet(self, source: Source) -> None:
        """Learn the page of ``source``, once; what an earlier run left of the same page waits no longer."""
        if source.met:
            return
        source.met = True
        self.counts.add("pages")
        self.waiting.supersede(source)
        self._learn(source)

    def go_on(self, item: Any, source: Source | None) -> Any:
        """Count an item that goes on now and return it, filled if there is anything to fill it with."""
        if self._is_opted_out(item):
            self.counts.add("opted_out")
            return item
        try:
            if self.is_skipped(source) or source is None:
                self.outcomes.passed(item)
                return item
            if not self.filler.can_fill(item):
                self.outcomes.had_all(item)
                return item
        except Exception:  # a class of items that we do not understand must not cost the item
            self.page_failed(source.page.url if source is not None else "A page")
            self.outcomes.passed(item)
            return item
        return self.fill(item, source)

    def fill(self, item: Any, source: Source) -> Any:
        """Return ``item`` with the clean text of its page."""
        try:
            cleaned = self.cleaned(source)
            self.counts.add("cleaned")
            return self._filled(item, cleaned)
        except Exception:  # a mistake of ours must not cost the item
            self.page_failed(source.page.url)
            self.outcomes.passed(item)
            return item

    def cleaned(self, source: Source) -> Cleaned:
        """Return the page of ``source`` as it is cleaned: it is judged once, however many items it has."""
        if source.cleaned is None:
            source.cleaned = self.sites.clean(source.page)
            self.page_cleaned(source.cleaned)
        return source.cleaned

    def page_cleaned(self, cleaned: Cleaned) -> None:
        """Count a page that was cleaned."""
        self.counts.add("guarded", int(cleaned.guarded))
        self.counts.add("characters_before", cleaned.visible)
        self.counts.add("characters_after", cleaned.kept)
        clean_page = cleaned.clean_page
        if self.settings.writing.extractor and clean_page.text and clean_page.method == self.settings.choice.name:
            self._failures.extractor(clean_page.url)

    def is_replayed(self, item: Any) -> bool:
        """Tell whether ``item`` is on its way through the pipelines after it had waited."""
        return self._replay.has(item)

    def _must_wait(self, source: Source) -> bool:
        """Tell whether an item has to wait: for more pages of its site, or for items before it of its own page.

        The first item that comes when its site is known waits too, and then goes on with the others. So the items
        of its page stay in order.
        """
        site = source.page.site
        backlog = site in self._sites_that_wait and site not in self._releasing
        return self.sites.must_wait(site) or backlog or self.waiting.has_items_of(source)

    def _park(self, item: Any, source: Source, refused: list[Waited]) -> bool:
        if not self.waiting.park(item, source, refused):
            return False
        self._sites_that_wait.add(source.page.site)
        return True

    def _learn(self, source: Source) -> None:
        try:
            self.sites.learn(source.page)
        except Exception:  # the page can still be judged
            self.page_failed(source.page.url)

    def _filled(self, item: Any, cleaned: Cleaned) -> Any:
        try:
            part = self.filler.part_of(item)
            clean_page = self.sites.part(cleaned, part) if part else cleaned.clean_page
        except PartError as error:
            self.outcomes.lacks_part(item, error)
            return item
        filled = self.filler.fill(item, clean_page)
        self.outcomes.filled(filled)
        return filled.item

    def _is_opted_out(self, item: Any) -> bool:
        return isinstance(item, self.settings.skipped_items)

    def is_readable(self, source: Source) -> bool:
        """Tell whether there is something to read. Here a page is parsed, unless its spider has done so."""
        return not source.page.skipped

    def is_skipped(self, source: Source | None) -> bool:
        """Tell, and count, whether there is nothing to be judged."""
        return self.outcomes.is_skipped(source)

    def page_failed(self, url: str) -> None:
        """Say, inside an ``except``, that a page broke us."""
        self._failures.page(url)

    # --- items that waited go on

    async def _release_what_may_go(self, site: str) -> None:
        """Let the items of ``site`` go on, if it is known now, and those of sites whose warm-up takes too long."""
        await self._release_late()
        await self._release(site)

    async def _release_meanwhile(self) -> None:
        await self._ending.put_off(self._release_late)

    async def _release_late(self) -> None:
        for late in self.sites.overdue():
            if waiting := self.waiting.count(late):
                logger.info(
                    "%s: %d items go on after %g seconds, with what is known of it",
                    *(printable(late), waiting, self.settings.warmup_seconds),
                )
            await self._release(late)

    async def _release(self, site: str) -> None:
        if site not in self._sites_that_wait or site in self._releasing or self.sites.must_wait(site):
            return
        self._releasing.add(site)
        try:
            while site in self._sites_that_wait and not self._ending.is_too_late():
                self._sites_that_wait.discard(site)
                # what a killed run left may be fetched again by this one; if not, it comes out at the end
                await self._send(self.waiting.of(site, inherited=bool(self.settings.job)))
        finally:
            self._releasing.discard(site)

    async def _release_all(self) -> None:
        """Let everything go on that still waits, as the crawl ends."""
        short: set[str] = set()

        def waiting() -> Iterator[Waited]:
            for waited in self.waiting.of():
                site = waited.source.page.site
                if not self.sites.is_ready(site) and site not in short:
                    short.add(site)
                    self.counts.add("sites_short")
                yield waited

        await self._send(waiting())

    async def _send(self, waited: Iterable[Waited]) -> None:
        """Send items that waited through the pipelines, as many at a time as Scrapy does."""
        try:
            await self._replay.all_done(self._on_their_way(waited))
        except Exception:  # the crawl must go on, and end, all the same
            self.counts.add("failed")
            logger.exception(
                "Not all items that wait could go on, which is a mistake of denoise_crawler; they stay"
            )

    def _on_their_way(self, waited: Iterable[Waited]) -> Iterator[Awaitable[None]]:
        for item, source in waited:
            try:
                ready = self._ready_to_go(item, source)
            except Exception:  # it waits no longer, and so it goes on as it is
                self.page_failed(source.page.url)
                ready = item
            if ready is not None:
                yield self._replay.process(ready, source)
            if self._ending.is_too_late():
                return

    def _ready_to_go(self, item: Any, source: Source) -> Any | None:
        """Return an item that waited, filled as DENOISE_SHORT_SITES says; None if it is to be dropped."""
        policy = "clean" if self.sites.is_ready(source.page.site) else self.settings.short_sites
        if policy == "drop":
            self.counts.add("dropped")
            return None
        self.counts.add("replayed")
        if policy == "clean":
            return self.go_on(item, source)
        self.counts.add("raw")
        if source.cleaned is None:
            source.cleaned = self.sites.raw(source.page)
        return self._filled(item, source.cleaned)

    # --- the crawl begins and ends

    def _opened(self) -> None:
        with self._failures.of_step("learn the pages that an earlier run left"):
            for source in self.waiting.sources() if self.waiting.inherit() else ():
                if self.settings.job:
                    self._sites_that_wait.add(source.page.site)
                if not self.sites.is_ready(source.page.site):
                    self._learn(source)

    def _is_paused(self) -> bool:
        """Tell whether a job folder keeps requests for a later run, which will then release the items."""
        scheduler = scheduler_of(self._crawler)
        return bool(self.settings.job and scheduler is not None and scheduler.has_pending_requests())

    def _stopped(self) -> None:
        safe = False
        with self._failures.of_step("save what is known of the sites"):
            self.sites.save()
        with self._failures.of_step("look for what still waits"):
            logger.info(summary(self.counts))
            if left := self.waiting.count():
                logger.info("%d items wait in %s for the next run", left, self.settings.store)
        with self._failures.of_step("tell whether the feeds were written"):
            safe = feeds_are_safe(self._crawler)
        if not safe:
            logger.error(
                "A feed failed: the items that had waited stay in %s for the next run", self.settings.store
            )
        self._store.close(safe=safe)
