"""The sites of one crawl: their pages are learned, counted up to the quota, and judged."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, inf

from denoise_crawler.crawl.parked_items import GuardedStore
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.source_page import SourcePage
from denoise_crawler.denoiser import Cleaned
from denoise_crawler.errors import describe_error
from denoise_crawler.methods import Method
from denoise_crawler.methods.base import Knowledge
from denoise_crawler.page import Page
from denoise_crawler.page.text import printable
from denoise_crawler.store import SiteState, Store
from denoise_crawler.store.knowledge import SharedStore, StoredKnowledge

logger = logging.getLogger(__name__)

# A page with a higher novelty has another layout: that share of its text is where no known page of the site has
# text. Pages of another site have 1.00; a limit of .5 would split off a fifth of the pages of varied sites.
MAX_NOVELTY = 0.9
LONGEST_PAUSES = 10  # the warm-up of a site ends after so many times the longest pause between new pages


@dataclass(slots=True, eq=False)
class Site:
    """A site in this crawl.

    Attributes:
        name: Its name.
        pages_seen: How many different pages were learned.
        is_ready: Whether the quota of pages is reached.
        is_overdue: Whether the time for the warm-up is over.
        has_waiting: Whether items of it wait in the store, so that no later one may go on before them.
        items_cleaned: How many items have got the text of their page.
        keys: The keys of the pages that were learned, until the site is ready.
        first_page: When its first page came, by a clock that only goes forward.
        last_new_page: When the last page came that is another than those before.
    """

    name: str
    pages_seen: int = 0
    is_ready: bool = False
    is_overdue: bool = False
    has_waiting: bool = False
    items_cleaned: int = 0
    keys: set[int] = field(default_factory=set)
    first_page: float = 0.0
    last_new_page: float = 0.0

    @property
    def is_known(self) -> bool:
        """Whether its pages are cleaned now: the quota is reached, or the time for that is over."""
        return self.is_ready or self.is_overdue


class Sites:
    """Learns the pages of sites and judges them.

    ``have_time_limit`` says whether the warm-up of a site ends after a time.
    ``store`` keeps the progress of the sites, and what was learned of them unless DENOISE_SHARED_STORE is set.
    """

    def __init__(self, settings: DenoiseSettings, store: GuardedStore, report: CrawlReport) -> None:
        self._settings, self._store, self._report = settings, store, report
        self._key = settings.choice.key
        self.have_time_limit = settings.short_sites == "clean" and settings.warmup_seconds > 0
        self._sites: dict[str, Site] = {}
        self._warming: dict[str, Site] = {}  # those whose warm-up ends after a time
        self._denoiser = settings.cleaning().denoiser(self._knowledge())
        self._redesigns = Redesigns(settings.warmup_pages, settings.choice.new, settings.sites_in_memory)

    def of(self, name: str) -> Site:
        """Return a site by its name."""
        if name not in self._sites:
            state = self._store.safely(SiteState(), Store.site, name, self._key)
            quota, is_ready = self._settings.warmup_pages, state.ready
            is_ready = is_ready or not self._denoiser.learns or quota == 0
            if not is_ready and self._settings.shared_store:  # another crawl may have learned it
                is_ready = self._denoiser.method_for(name).pages_known >= quota
            self._sites[name] = Site(name, state.pages_seen, is_ready)
        return self._sites[name]

    def all(self) -> list[Site]:
        """Return the sites of this crawl."""
        return list(self._sites.values())

    # --- a page is learned

    def learn(self, source: SourcePage) -> Site:
        """Learn a page, once, if it has anything to read; a new one counts towards the quota. Return its site."""
        site = self.of(source.page.site)
        if source.learned:
            return site
        source.learned = True
        try:
            if not source.page.skipped:
                self._learn(source, site)
        except Exception as error:  # the page can still be judged
            self._note_page(site, is_new=False)
            self._fail(source, error)
        return site

    def _learn(self, source: SourcePage, site: Site) -> None:
        page, is_new = source.page, False
        if self._denoiser.learns:
            with self._report.timed("learn"):
                method = self._denoiser.method_for(site.name)
                if site.is_ready:
                    self._learn_of_ready(source, site, method)
                else:
                    is_new = not method.knows(page) and page.key not in site.keys
                    self._denoiser.observe(method, page)
        self._note_page(site, is_new=is_new)
        if is_new:
            self._count_new(site, page)

    def _learn_of_ready(self, source: SourcePage, site: Site, method: Method) -> None:
        if method.novelty(source.page) <= MAX_NOVELTY or not self._settings.warmup_pages:
            self._redesigns.count_known(site.name)
            self._denoiser.observe(method, source.page)
        elif self._redesigns.learn(source.page):
            self._denoiser.begin_anew(site.name, self._redesigns.pop(site.name))
            self._report_redesign(site)
        else:
            source.is_strange = True

    def _count_new(self, site: Site, page: Page) -> None:
        site.keys.add(page.key)
        site.pages_seen += 1
        quota = self._settings.warmup_pages
        if site.pages_seen >= quota:
            site.is_ready = True
            site.keys.clear()
            self._warming.pop(site.name, None)
            self._report.count("sites_ready")
            waiting = self._store.safely(0, Store.waiting_count, site.name, inherited=bool(self._settings.job))
            message = "%s is known after %d pages; %d items that waited go on"
            logger.info(message, printable(site.name), site.pages_seen, waiting)
            self._denoiser.save(site.name)
            self._save_state(site)
        elif site.pages_seen % ceil(quota / 4) == 0:
            logger.info("%s: %d of %d pages until it is known", printable(site.name), site.pages_seen, quota)

    def _report_redesign(self, site: Site) -> None:
        self._report.count("drifts")
        logger.warning(
            "%s has pages unlike those it was known by: it was redesigned. %d of them match each other, and by "
            "these it is known from now on",
            printable(site.name),
            self._settings.warmup_pages,
        )

    # --- the time of a warm-up

    def take_overdue(self) -> list[tuple[Site, str]]:
        """Return the sites whose time is just over, and after what: no item of them waits from now on.

        Those that were due first are at the front.
        """
        now, pause = time.monotonic(), self._settings.warmup_seconds or inf
        due = {site.name: self._deadline(site, pause) for site in self._warming.values()}
        overdue = [self._warming.pop(name) for name in sorted(due, key=due.__getitem__) if due[name] < now]
        for site in overdue:
            site.is_overdue = True
        quiet, long = f"{pause:g} seconds without a new page", f"{LONGEST_PAUSES * pause:g} seconds"
        return [(site, quiet if now - site.last_new_page > pause else long) for site in overdue]

    @staticmethod
    def _deadline(site: Site, pause: float) -> float:
        return min(site.last_new_page + pause, site.first_page + LONGEST_PAUSES * pause)

    def _note_page(self, site: Site, *, is_new: bool) -> None:
        if not self.have_time_limit or site.is_known:
            return
        now = time.monotonic()
        if site.name not in self._warming:
            self._warming[site.name] = site
            site.first_page = site.last_new_page = now
        elif is_new:
            site.last_new_page = now

    # --- a page is judged

    def clean(self, source: SourcePage) -> None:
        """Judge a page, once, by what is known of its site now; write its text."""
        if source.cleaned is not None or source.failed:
            return
        try:
            if source.page.skipped:
                return
            if not source.page.is_intact:  # the spider took out elements after they were read
                source.page = Page.parse(source.page.url, source.page.source, site=source.page.site)
            site = self.of(source.page.site)
            method = self._redesigns.method_for(site.name) if source.is_strange else None
            with self._report.timed("judge"):
                judgement = self._denoiser.judge(source.page, method=method)
            with self._report.timed("write"):
                source.cleaned = self._denoiser.write(source.page, judgement, warm=site.is_ready)
            self._report.page_cleaned(source.cleaned, self._settings.writing, self._settings.choice.name)
        except Exception as error:  # its items leave without a text
            source.failed = True
            self._fail(source, error)

    def preview(self, page: Page) -> Cleaned:
        """Clean ``page`` for display; it is not counted."""
        return self._denoiser.clean(page)

    def _fail(self, source: SourcePage, error: Exception) -> None:
        """Report, inside an ``except`` block, that a page cannot be cleaned: once, however many items it has."""
        if source.error is None:
            source.error = describe_error(error)
            self._report.page_failed(source.page.url)

    # --- what is known is stored

    def save_all(self) -> None:
        """Write what is known of all sites."""
        with self._store.together():
            self._denoiser.save()
            for site in self._sites.values():
                if site.pages_seen:
                    self._save_state(site)

    def _save_state(self, site: Site) -> None:
        state = SiteState(site.pages_seen, site.is_ready)
        self._store.safely(None, Store.save_state, site.name, self._key, state)

    def _knowledge(self) -> Knowledge:
        """Return what is known of sites: in the store, or in a store that several crawls share."""
        choice = self._settings.choice
        if not self._settings.shared_store:
            return StoredKnowledge(self._store.store, choice, on_error=self._store.report)
        shared = SharedStore(self._settings.shared_store)
        return StoredKnowledge(shared, choice, on_error=self._report_shared_store)

    def _report_shared_store(self, error: Exception) -> None:
        self._report.first(
            "store_errors",
            "%s. This crawl goes on with what it learns itself and writes it as soon as that works.",
            error,
            level=logging.ERROR,
        )


@dataclass(slots=True)
class _Redesign:
    """The pages of a site that are unlike those it is known by, and the method that learned them."""

    method: Method
    matching: int = 0
    others: int = 0  # pages since the first that are as those before, or match no other


class Redesigns:
    """Notices that a site was redesigned: more new pages match each other than come as before.

    Args:
        quota: How many pages have to match.
        new_method: Makes a method that has learned nothing.
        most_sites: Of how many sites such pages are kept.
    """

    def __init__(self, quota: int, new_method: Callable[[], Method], most_sites: int) -> None:
        self._quota, self._new_method, self._most_sites = quota, new_method, most_sites
        self._sites: OrderedDict[str, _Redesign] = OrderedDict()

    def learn(self, page: Page) -> bool:
        """Learn a page that is unlike those before; return True if enough of them match each other."""
        redesign = self._sites.setdefault(page.site, _Redesign(self._new_method()))
        self._sites.move_to_end(page.site)
        if not redesign.method.knows(page):
            matches = not redesign.matching or redesign.method.novelty(page) <= MAX_NOVELTY
            redesign.method.observe(page)
            redesign.matching += matches
            if not matches:
                self.count_known(page.site)
        if len(self._sites) > self._most_sites:
            self._sites.popitem(last=False)
        return redesign.matching >= self._quota

    def count_known(self, site: str) -> None:
        """Count a page that is as those before; forget the new ones if they are fewer."""
        if redesign := self._sites.get(site):
            redesign.others += 1
            if redesign.others > redesign.matching:
                del self._sites[site]

    def method_for(self, site: str) -> Method | None:
        """Return the method that knows the new pages of a site, None if they were forgotten."""
        redesign = self._sites.get(site)
        return None if redesign is None else redesign.method

    def pop(self, site: str) -> Method:
        """Return the method that knows the new pages of a site, and forget them."""
        return self._sites.pop(site).method
