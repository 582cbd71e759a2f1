"""Warm-up: items wait in the store until their site is known, then they are cleaned and go on.

Stats, all under ``denoise/``:

======================== ==============================================================================
``pages``                pages seen (one a response that yields items)
``parked``               items that had to wait
``replayed``             items that waited and went on
``cleaned``              items whose page was judged
``dropped``              items of sites that stayed short, with ``DENOISE_SHORT_SITES = "drop"``
``raw``                  items of such sites with all their text, with ``"raw"``
``untouched``            items without a page (JSON, images, no field with HTML)
``skipped/<why>``        items of pages that cannot be read: ``empty``, ``frameset``, ``too_large``
``seconds/learn``        seconds of the event loop spent on learning pages, ``seconds/judge`` on judging
                         them, ``seconds/write`` on writing their text and reading their metadata
``inherited``            items that an earlier run left waiting
``superseded``           inherited items whose page came again
``unparkable``           items that cannot be stored, cleaned at once instead
``store_errors``         failures to read or write the store; an item that it could not take is cleaned at once
``unreadable``           items in the store whose class is gone, changed or of another script; they stay there
``failed``               pages that could not be learned or cleaned, by a mistake of ours; their items go on
``unfilled``             items without a field for the text
``guarded``              pages of which next to nothing was left, so that a safer verdict was taken
``extractor_fallbacks``  pages of which the extractor wrote nothing, or on which it failed: our own text
``sites_ready``          sites whose warm-up ended in this run
``drifts``               layouts found beside what was known of a site: it was redesigned, or has another part
``sites_short``          sites with items that never got there
``characters_before``    visible characters of the judged pages, ``characters_after`` those kept
======================== ==============================================================================
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from scrapy import signals

from denoise_crawler.crawl.drift import Layouts
from denoise_crawler.crawl.event_loop import spare_what_is_there
from denoise_crawler.crawl.feed_results import feeds_are_safe
from denoise_crawler.crawl.filling import Filler
from denoise_crawler.crawl.guarded_store import GuardedStore, StoreShelf
from denoise_crawler.crawl.parked_items import UnparkableError, pack, unpack
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.unparkable import OncePerClass
from denoise_crawler.damaged_store import open_store
from denoise_crawler.denoiser import Denoiser, clean_page
from denoise_crawler.methods import guarded, method_named
from denoise_crawler.page import MAX_CHARACTERS, MAX_ELEMENTS, Page
from denoise_crawler.shared_store import SharedShelf, SharedStore
from denoise_crawler.store import SiteState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

    from denoise_crawler.denoiser import Shelf
    from denoise_crawler.methods import Judgement
    from denoise_crawler.store import Parked

logger = logging.getLogger(__name__)
_WHY_SKIPPED = {
    "too_large": f"it has more than {MAX_CHARACTERS:,} characters or {MAX_ELEMENTS:,} elements; to have it "
    "cleaned, yield it in parts, an item each with its own HTML"
}


@dataclass
class _Progress:
    pages_seen: int
    ready: bool
    keys: set[int] = field(default_factory=set)
    releasing: bool = False


class Warmup:
    """What one crawl knows of its sites, and which of its items wait. One per crawler: :meth:`of`."""

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, Warmup]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        self.settings = DenoiseSettings.from_settings(crawler.settings)
        self.filler = Filler(self.settings)
        self._unparkable = OncePerClass()
        self._crawler = crawler
        self._new_method = partial(method_named, self.settings.method, self.settings.method_options)
        self._key = self._new_method().store_key
        self._progress: dict[str, _Progress] = {}
        spider = crawler.spidercls.name if crawler.spidercls else ""
        self.store = GuardedStore(
            open_store(self.settings.store, spider=spider, job=self.settings.job), self._store_failed
        )
        self._denoiser = Denoiser(
            self.settings.method,
            self.settings.method_options,
            shelf=self._shelf(),
            sites_in_memory=self.settings.sites_in_memory,
        )
        self._layouts = Layouts(
            self._denoiser,
            self.settings.warmup_pages,
            fresh=self._new_method,
            drifted=self._drifted,
            sites_in_memory=self.settings.sites_in_memory,
        )
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._stopped, signals.engine_stopped)

    @classmethod
    def of(cls, crawler: Crawler) -> Warmup:
        """Return the warm-up of ``crawler``; raise SettingError or StoreError if it cannot be set up."""
        if crawler not in cls._of_crawler:
            cls._of_crawler[crawler] = cls(crawler)
        return cls._of_crawler[crawler]

    # --- a page comes

    def meet(self, page: Page, origin: bytes) -> None:
        """Learn ``page``; ``origin`` tells which inherited items came from the same one."""
        self._count("pages")
        if superseded := self.store.supersede(origin):
            self._count("superseded", superseded)
        self._learn(page)

    def must_wait(self, page: Page) -> bool:
        """Tell whether items of ``page`` have to wait: for their site, or for those before them."""
        progress = self._progress_of(page.site)
        return not progress.ready or progress.releasing

    def park(self, item: Any, page: Page, origin: bytes) -> bool:
        """Let ``item`` wait in the store; return whether that was possible."""
        try:
            packed = pack(item)
        except UnparkableError as error:
            self._count("unparkable")
            if self._unparkable.is_first(type(item)):
                logger.warning(
                    "Items of this class cannot wait until their site is known and are cleaned at once: %s", error
                )
            return False
        waits = self.store.park(page.site, page.url, page.markup, packed, origin)
        self._count("parked", int(waits))
        return waits

    def release(self, site: str) -> Iterator[Any]:
        """Yield the items of ``site`` that wait, cleaned, in order."""
        progress = self._progress_of(site)
        if progress.releasing or not progress.ready:
            return
        progress.releasing = True
        try:
            # what a killed run left may be fetched again by this one: it comes out at the end, if not
            for parked in self.store.waiting(site, inherited=bool(self.settings.job)):
                yield from self._replay(parked)
        finally:
            progress.releasing = False

    def clean(self, item: Any, page: Page, *, warm: bool | None = None) -> Any:
        """Fill ``item`` with the clean text of ``page`` and return it, or a filled copy if it is frozen."""
        try:
            return self._fill(item, page, self._progress_of(page.site).ready if warm is None else warm)
        except Exception:  # a mistake of ours must not cost the item
            self._page_failed(page)
        return item

    def judge(self, page: Page) -> Judgement:
        """Say what is noise on ``page``, by what is known of its site now."""
        return guarded(page, self._layouts.method_for(page).judge(page))

    def _fill(self, item: Any, page: Page, ready: bool) -> Any:
        start = perf_counter()
        judgement = self.judge(page)
        judged = perf_counter()
        self._crawler.stats.inc_value("denoise/seconds/judge", judged - start)  # type: ignore[arg-type]
        if judgement.guarded:
            self._count("guarded")
        cleaned = clean_page(
            page, judgement, method=self.settings.method, warm=ready, writing=self.settings.writing
        )
        self._crawler.stats.inc_value("denoise/seconds/write", perf_counter() - judged)  # type: ignore[arg-type]
        if self.settings.writing.extractor and cleaned.text and cleaned.method == self.settings.method:
            self._fell_back(page)
        self._count("cleaned")
        kept = len(cleaned.text)
        ratio = cleaned.noise_ratio or 0.0
        self._count("characters_before", round(kept / (1.0 - ratio)) if ratio < 1.0 else kept)
        self._count("characters_after", kept)
        filled = self.filler.fill(item, cleaned)
        if not filled.has_text:
            self._count("unfilled")
        return filled.item

    def _page_failed(self, page: Page) -> None:
        self._count("failed")
        logger.exception(
            "%s cannot be cleaned, which is a mistake of denoise_crawler; its items go on as they are", page.url
        )

    def _fell_back(self, page: Page) -> None:
        if not self._count("extractor_fallbacks"):
            extractor = self.settings.writing.extractor
            logger.warning("%s wrote nothing of %s: our own text takes its place", extractor, page.url)

    def skipped(self, page: Page | None) -> bool:
        """Tell, and count, whether there is nothing to be judged."""
        if page is None:
            self._count("untouched")
            return True
        if page.skipped:
            if not self._count(f"skipped/{page.skipped}"):
                why = _WHY_SKIPPED.get(page.skipped, page.skipped)
                logger.warning("Nothing to read at %s: %s. Its items pass unchanged.", page.url, why)
            return True
        return False

    # --- the crawl ends

    def finish(self) -> Iterator[Any]:
        """Yield all items that still wait, by DENOISE_SHORT_SITES where their site never got ready."""
        short: set[str] = set()
        for parked in self.store.waiting():
            if not self._progress_of(parked.site).ready and parked.site not in short:
                short.add(parked.site)
                self._count("sites_short")
            yield from self._replay(parked)

    def waiting_count(self) -> int:
        """Return how many items wait."""
        return self.store.waiting_count()

    def _replay(self, parked: Parked) -> Iterator[Any]:
        """Yield the item of one row, ready to go on; nothing if it is to be dropped or cannot be read."""
        try:
            item = unpack(parked.item)
        except UnparkableError as error:
            if not self._count("unreadable"):
                logger.error("An item of %s stays in %s: %s", parked.url, self.settings.store, error)
            return
        if not self.store.hand_on(parked):
            return  # it would come again in the next run
        page = Page.parse(parked.url, parked.html, site=parked.site)
        ready = self._progress_of(parked.site).ready
        if not ready and self.settings.short_sites == "drop":
            self._count("dropped")
            return
        self._count("replayed")
        if ready or self.settings.short_sites == "clean":
            yield self.clean(item, page, warm=ready)
        else:
            self._count("raw")
            raw = clean_page(page, None, method="raw", warm=False, writing=self.settings.writing)
            yield self.filler.fill(item, raw).item

    def _learn(self, page: Page) -> None:
        progress = self._progress_of(page.site)
        if not self._denoiser.learns:
            return
        start = perf_counter()
        try:
            if progress.ready:
                self._layouts.learn(page)
                return
            method = self._denoiser.method_for(page.site)
            new = page.key not in progress.keys and not method.knows(page)
            method.observe(page)
        except Exception:
            self._page_failed(page)
            return
        finally:
            self._crawler.stats.inc_value("denoise/seconds/learn", perf_counter() - start)  # type: ignore[arg-type]
        if not new:
            return
        progress.keys.add(page.key)
        progress.pages_seen += 1
        quota = self.settings.warmup_pages
        if progress.pages_seen >= quota:
            self._became_ready(page.site, progress)
        elif progress.pages_seen % ceil(quota / 4) == 0:
            logger.info("%s: %d of %d pages until it is known", page.site, progress.pages_seen, quota)

    def _became_ready(self, site: str, progress: _Progress) -> None:
        progress.ready = True
        progress.keys.clear()
        self._count("sites_ready")
        self._save(site)
        waiting = self.store.waiting_count(site, inherited=bool(self.settings.job))
        logger.info("%s is known after %d pages; %d items go on", site, progress.pages_seen, waiting)

    def _drifted(self, site: str, layout: str) -> None:
        self._count("drifts")
        self.store.save_state(layout, self._key, SiteState(self.settings.warmup_pages, ready=True))
        logger.warning(
            "%s has pages unlike those it is known by: it was redesigned, or has another part. %d of them are "
            "alike; from now on such pages are judged by each other, as %s",
            site,
            self.settings.warmup_pages,
            layout,
        )

    def _save(self, site: str | None = None) -> None:
        """Write what is known of ``site``, None: of all sites, so that the next crawl starts from there."""
        self._denoiser.save(site)
        for name, progress in self._progress.items():
            if progress.pages_seen and site in (None, name):
                self.store.save_state(name, self._key, SiteState(progress.pages_seen, progress.ready))

    def _store_failed(self, error: Exception) -> None:
        if not self._count("store_errors"):
            logger.error(
                "The store %s cannot be read or written: %s. Items that cannot wait are cleaned at once; those "
                "that wait come out as soon as it works, in this run or the next.",
                self.settings.store,
                error,
            )

    def _shelf(self) -> Shelf:
        """Return where what is known of sites lies: in the store, or where several crawls share it."""
        if not self.settings.shared_store:
            return StoreShelf(self.store, self.settings, self._key)
        return SharedShelf(SharedStore(self.settings.shared_store), self._new_method, self._shared_store_failed)

    def _shared_store_failed(self, error: Exception) -> None:
        if not self._count("store_errors"):
            logger.error(
                "The shared store %s cannot be read or written: %s. This crawl goes on with what it learns itself "
                "and writes it as soon as that works.",
                self.settings.shared_store,
                error,
            )

    def _progress_of(self, site: str) -> _Progress:
        if site not in self._progress:
            state = self.store.site(site, self._key)
            ready = state.ready or not self._denoiser.learns or self.settings.warmup_pages == 0
            if not ready and self.settings.shared_store:  # other crawls may have learned it
                ready = self._denoiser.method_for(site).pages_known >= self.settings.warmup_pages
            self._progress[site] = _Progress(state.pages_seen, ready)
        return self._progress[site]

    def _count(self, name: str, by: int = 1) -> int:
        """Add to a stat and return what it was before."""
        stats = self._crawler.stats
        before: int = stats.get_value(f"denoise/{name}", 0)
        stats.inc_value(f"denoise/{name}", by)
        return before

    # --- signals

    def _opened(self) -> None:
        spare_what_is_there()
        if inherited := self.store.inherit():
            self._count("inherited", inherited)
            logger.info("%d items wait from an earlier run", inherited)
            for parked in self.store.waiting():
                if not self._progress_of(parked.site).ready:
                    self._learn(Page.parse(parked.url, parked.html, site=parked.site))

    def _stopped(self) -> None:
        self._save()
        if left := self.store.waiting_count():
            logger.info("%d items wait in %s for the next run", left, self.settings.store)
        if not (safe := feeds_are_safe(self._crawler)):
            logger.error(
                "A feed failed: the items that had waited stay in %s for the next run", self.settings.store
            )
        self.store.close(safe=safe)
