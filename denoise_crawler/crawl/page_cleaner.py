"""Learns, judges and writes the pages of a crawl; a redesigned site gets another layout."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from denoise_crawler.denoiser import MAX_LAYOUTS, MAX_NOVELTY, Cleaned, Cleaning, Denoiser
from denoise_crawler.methods import Method
from denoise_crawler.methods.base import Knowledge
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.page import Page
from denoise_crawler.page.site import layout_name

Timed: TypeAlias = Callable[[str], AbstractContextManager[None]]


class Learned(NamedTuple):
    """What came of learning a page.

    Attributes:
        skipped: Why the page has nothing to read; then it was not learned.
        new: Whether the page was not known before.
        layout: The name of the layout that this page completed, None if it completed none.
        novelty: The share of its text where no known page of the site has any; None before the site is known.
        template: How many lines come back on pages of the site by now; None if the method counts none.
    """

    skipped: str | None = None
    new: bool = False
    layout: str | None = None
    novelty: float | None = None
    template: int | None = None


class PageCleaner:
    """Learns pages and judges them by what is known of their sites.

    ``timed`` measures the time of a stage.
    """

    def __init__(self, cleaning: Cleaning, knowledge: Knowledge, timed: Timed) -> None:
        self._timed = timed
        self._denoiser = cleaning.denoiser(knowledge)
        self._layouts = Layouts(
            self._denoiser,
            cleaning.warmup_pages,
            new_method=cleaning.choice.new,
            on_new_layout=self._on_new_layout,
            sites_in_memory=cleaning.sites_in_memory,
        )
        self._new_layout: str | None = None

    def learn(self, page: Page, *, ready: bool) -> Learned:
        """Learn ``page`` if it has anything to read. ``ready`` tells whether the quota of its site is reached."""
        if page.skipped or not self._denoiser.learns:
            return Learned(page.skipped)
        with self._timed("learn"):
            if ready:
                self._new_layout = None
                method, novelty = self._layouts.learn(page)
                return Learned(layout=self._new_layout, novelty=novelty, template=method.template_lines)
            method = self._denoiser.method_for(page.site)
            new = not method.knows(page)
            self._denoiser.observe(method, page)
            return Learned(new=new, template=method.template_lines)

    def clean(self, page: Page, *, warm: bool) -> Cleaned:
        """Judge ``page`` by what is known of its site now, and write its text."""
        with self._timed("judge"):
            judgement = self._denoiser.judge(page, method=self._layouts.method_for(page))
        with self._timed("write"):
            return self._denoiser.write(page, judgement, warm=warm)

    def preview(self, page: Page) -> Cleaned:
        """Clean ``page`` for somebody who looks at it; nothing is timed."""
        return self._denoiser.clean(page, method=self._layouts.method_for(page))

    def part(self, cleaned: Cleaned, part: str) -> CleanPage:
        """Return the clean text of a part of a cleaned page; raise PartError if the part is not there."""
        with self._timed("write"):
            return self._denoiser.part(cleaned, part)

    def raw(self, page: Page) -> Cleaned:
        """Return ``page`` with all of its text."""
        return self._denoiser.raw(page)

    def pages_known(self, site: str) -> int:
        """Return how many pages of ``site`` are known."""
        return self._denoiser.method_for(site).pages_known

    def save(self, site: str | None) -> None:
        """Hand on what is known of ``site`` (None: of all sites) to be kept."""
        self._denoiser.save(site)

    def _on_new_layout(self, _: str, layout: str) -> None:
        self._new_layout = layout


PATIENCE_QUOTAS = 10


@dataclass
class _NewLayout:
    """Pages that fit no known layout, and the method that learned them."""

    method: Method
    matching: int = 0  # how many of them matched those before
    pages_since: int = 0  # of the site, since the first of them


class Layouts:
    """The layouts of sites. Each is learned as if it were a site of its own: ``SITE``, ``SITE (2)``, and so on.

    The *novelty* of a page in a layout is the share of its text that stands where no page of the layout has any. A
    page whose novelty in every layout of its site is above ``MAX_NOVELTY`` is learned apart. When ``quota`` such
    pages match each other, they become a new layout. If that takes more than ``PATIENCE_QUOTAS`` times as many
    pages of the site, they are forgotten: a few odd pages are no layout. Until then they judge each other. A site
    has at most ``MAX_LAYOUTS`` layouts; the last of them then learns all further pages that fit none.

    Args:
        denoiser: Judges by the layouts that are complete.
        quota: How many matching pages make a layout.
        new_method: Makes a method that has learned nothing.
        on_new_layout: Called with the site and the name of its new layout.
        sites_in_memory: For how many sites an unfinished layout is kept.
    """

    def __init__(
        self,
        denoiser: Denoiser,
        quota: int,
        *,
        new_method: Callable[[], Method],
        on_new_layout: Callable[[str, str], None],
        sites_in_memory: int,
    ) -> None:
        self._denoiser, self._quota = denoiser, quota
        self._new_method, self._on_new_layout = new_method, on_new_layout
        self._sites_in_memory = sites_in_memory
        self._new_layouts: OrderedDict[str, _NewLayout] = OrderedDict()

    def method_for(self, page: Page) -> Method:
        """Return the method that knows the layout of ``page`` best, possibly an unfinished layout."""
        new = self._new_layouts.get(page.site)
        if new is None:
            return self._denoiser.method_for_page(page)
        method, novelty = self._denoiser.best_layout(page)
        if novelty > MAX_NOVELTY and new.method.novelty(page) <= MAX_NOVELTY:
            return new.method
        return method

    def learn(self, page: Page) -> tuple[Method, float]:
        """Learn a page of a known site with the pages of its layout.

        Returns:
            The method of the layout that fitted best before, and the novelty of the page in it.
        """
        method, novelty = self._denoiser.best_layout(page)
        if novelty > MAX_NOVELTY and self._quota:
            self._learn_strange(page)
        else:
            self._denoiser.observe(method, page)
            self._count_page(page.site)
        return method, novelty

    def _learn_strange(self, page: Page) -> None:
        if self._denoiser.layouts(page.site) == MAX_LAYOUTS:
            self._denoiser.observe(self._denoiser.method_for(layout_name(page.site, MAX_LAYOUTS)), page)
            return
        new = self._new_layouts.setdefault(page.site, _NewLayout(self._new_method()))
        self._new_layouts.move_to_end(page.site)
        if not new.method.knows(page):
            if not new.matching or new.method.novelty(page) <= MAX_NOVELTY:
                new.matching += 1
            new.method.observe(page)
        if new.matching >= self._quota:
            del self._new_layouts[page.site]
            self._on_new_layout(page.site, self._denoiser.add_layout(page.site, new.method))
            return
        self._count_page(page.site)
        while len(self._new_layouts) > self._sites_in_memory:
            self._new_layouts.popitem(last=False)

    def _count_page(self, site: str) -> None:
        if new := self._new_layouts.get(site):
            new.pages_since += 1
            if new.pages_since > PATIENCE_QUOTAS * self._quota:
                del self._new_layouts[site]
