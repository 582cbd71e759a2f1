"""Detects a redesign: pages that do not fit what is known of their site are learned as another layout."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.denoiser import MAX_LAYOUTS, MAX_NOVELTY
from denoise_crawler.page.site import layout_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.denoiser import Denoiser
    from denoise_crawler.methods import Method
    from denoise_crawler.page import Page

PATIENCE_QUOTAS = 10


@dataclass
class _NewLayout:
    """Pages that fit no known layout, and the method that learned them.

    Attributes:
        method: What was learned from them.
        matching: How many of them matched those before.
        pages_since: How many pages of the site came since the first of them.
    """

    method: Method
    matching: int = 0
    pages_since: int = 0


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

    def learn(self, page: Page) -> None:
        """Learn a page of a known site with the pages of its layout."""
        method, novelty = self._denoiser.best_layout(page)
        if novelty > MAX_NOVELTY and self._quota:
            self._learn_strange(page)
            return
        self._denoiser.observe(method, page)
        self._count_page(page.site)

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
