"""A site that changes: pages that what is known of it does not fit are learned beside it, as another layout."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.denoiser import MAX_LAYOUTS, STRANGE
from denoise_crawler.page.site import layout_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.denoiser import Denoiser
    from denoise_crawler.methods import Method
    from denoise_crawler.page import Page

PATIENCE = 10  # so many times the quota may pass until a new layout has its quota


@dataclass
class _Forming:
    """What is learned from strange pages: ``familiar`` of them were alike, of ``passed`` pages of the site."""

    method: Method
    familiar: int = 0
    passed: int = 0


class Layouts:
    """The layouts of sites, each learned as if it were a site of its own: ``SITE``, ``SITE (2)``, and so on.

    A page is *strange* to a layout if more than nine tenths of its text (``STRANGE``) stand where no page of that
    layout has any. Pages strange to all layouts of their site are learned apart; when ``quota`` of them were
    familiar with those before them, they become a layout, and ``drifted`` is told the site and the layout's name.
    If that takes more than ten times as many pages of the site (``PATIENCE``) they are forgotten: odd pages are
    no layout; until then they are judged by each other. A site has at most ``MAX_LAYOUTS``; then strange pages
    are learned by the last.

    ``fresh`` makes a method that knows nothing.
    """

    def __init__(
        self,
        denoiser: Denoiser,
        quota: int,
        *,
        fresh: Callable[[], Method],
        drifted: Callable[[str, str], None],
        sites_in_memory: int,
    ) -> None:
        self._denoiser, self._quota = denoiser, quota
        self._fresh, self._drifted = fresh, drifted
        self._sites_in_memory = sites_in_memory
        self._forming: OrderedDict[str, _Forming] = OrderedDict()

    def method_for(self, page: Page) -> Method:
        """Return what knows the layout of ``page`` best, be it the pages gathered for a layout to come."""
        forming = self._forming.get(page.site)
        if forming is None:
            return self._denoiser.method_of(page)
        method, strangeness = self._denoiser.best_layout(page)
        if strangeness > STRANGE and forming.method.strangeness(page) <= STRANGE:
            return forming.method
        return method

    def learn(self, page: Page) -> None:
        """Learn ``page``, of a site that is known, with the pages of its layout."""
        method, strangeness = self._denoiser.best_layout(page)
        if strangeness > STRANGE and self._quota:
            self._learn_strange(page)
            return
        method.observe(page)
        self._pass(page.site)

    def _learn_strange(self, page: Page) -> None:
        if self._denoiser.layouts(page.site) == MAX_LAYOUTS:
            self._denoiser.method_for(layout_name(page.site, MAX_LAYOUTS)).observe(page)
            return
        forming = self._forming.setdefault(page.site, _Forming(self._fresh()))
        self._forming.move_to_end(page.site)
        if not forming.method.knows(page):
            if not forming.familiar or forming.method.strangeness(page) <= STRANGE:
                forming.familiar += 1
            forming.method.observe(page)
        if forming.familiar >= self._quota:
            self._drifted(page.site, self._denoiser.add_layout(page.site, self._forming.pop(page.site).method))
            return
        self._pass(page.site)
        while len(self._forming) > self._sites_in_memory:
            self._forming.popitem(last=False)

    def _pass(self, site: str) -> None:
        if forming := self._forming.get(site):
            forming.passed += 1
            if forming.passed > PATIENCE * self._quota:
                del self._forming[site]
