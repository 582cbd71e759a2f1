"""Learns, judges and writes the pages of a crawl: at once in its own process, or as a worker process does."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from denoise_crawler.crawl.drift import Layouts
from denoise_crawler.denoiser import Cleaned

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.denoiser import Cleaning
    from denoise_crawler.methods import Judgement
    from denoise_crawler.methods.base import Knowledge
    from denoise_crawler.output.clean_page import CleanPage
    from denoise_crawler.page import Page

    Timed: TypeAlias = Callable[[str], AbstractContextManager[None]]


class Learned(NamedTuple):
    """What came of learning a page.

    Attributes:
        skipped: Why the page has nothing to read; then it was not learned.
        new: Whether the page was not known before.
        layout: The name of the layout that this page completed, None if it completed none.
    """

    skipped: str | None = None
    new: bool = False
    layout: str | None = None


class PageCleaner:
    """Learns pages and judges them by what is known of their sites.

    Args:
        cleaning: How pages are cleaned.
        knowledge: What is known of sites.
        timed: Measures the time of a stage.
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
                self._layouts.learn(page)
                return Learned(layout=self._new_layout)
            method = self._denoiser.method_for(page.site)
            new = not method.knows(page)
            self._denoiser.observe(method, page)
            return Learned(new=new)

    def clean(self, page: Page, *, warm: bool) -> Cleaned:
        """Judge ``page`` by what is known of its site now, and write its text."""
        with self._timed("judge"):
            judgement = self._denoiser.judge(page, method=self._layouts.method_for(page))
        with self._timed("write"):
            return self._denoiser.write(page, judgement, warm=warm)

    def preview(self, page: Page) -> Cleaned:
        """Clean ``page`` for somebody who looks at it; nothing is timed, and it does not count as seen."""
        return self._denoiser.clean(page, method=self._layouts.method_for(page), watch=False)

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


class CleanedPage(Protocol):
    """The part of :class:`~denoise_crawler.denoiser.Cleaned` that a crawl needs, wherever the page was cleaned."""

    @property
    def clean_page(self) -> CleanPage:
        """The clean page."""

    @property
    def visible(self) -> int:
        """The characters of the page, without white space."""

    @property
    def kept(self) -> int:
        """Those of them that are no noise."""

    @property
    def judgement(self) -> Judgement | None:
        """The judgement, of a page that was cleaned elsewhere without its nodes; None if it was not judged."""


class Cleaner(Protocol):
    """Learns and cleans pages, here or elsewhere. Each method but ``pages_known`` may take its time.

    All but ``pages_known`` raise WorkerError if a worker process cannot do it, ``clean`` AskAgainError if it is to
    be asked again.

    Attributes:
        lost: The sites of which pages were learned by a worker process that died before they were saved.
    """

    lost: set[str]

    async def start(self) -> None:
        """Be ready."""

    async def skipped(self, page: Page) -> str | None:
        """Return why ``page`` has nothing to read, None if it has something."""

    async def learn(self, page: Page, *, ready: bool) -> Learned:
        """See :meth:`PageCleaner.learn`."""

    async def clean(self, page: Page, *, warm: bool) -> CleanedPage:
        """See :meth:`PageCleaner.clean`."""

    async def raw(self, page: Page) -> CleanedPage:
        """See :meth:`PageCleaner.raw`."""

    async def part(self, page: Page, cleaned: CleanedPage, part: str) -> CleanPage:
        """See :meth:`PageCleaner.part`; ``page`` is the page that was cleaned."""

    async def preview(self, page: Page) -> CleanedPage:
        """See :meth:`PageCleaner.preview`."""

    async def save(self, site: str | None) -> None:
        """See :meth:`PageCleaner.save`."""

    async def close(self) -> None:
        """End; nothing is asked any more."""

    def pages_known(self, site: str) -> int:
        """Return how many pages of ``site`` are known."""

    def view(self, page: Page) -> Cleaned:
        """Clean ``page`` at once and here, with its judgement, for somebody who looks at it."""


class InlineCleaner:
    """Does all at once. The arguments are those of :class:`PageCleaner`."""

    def __init__(self, cleaning: Cleaning, knowledge: Knowledge, timed: Timed) -> None:
        self._pages = PageCleaner(cleaning, knowledge, timed)
        self.lost: set[str] = set()
        self.pages_known = self._pages.pages_known
        self.view = self._pages.preview

    async def start(self) -> None:
        """Do nothing: it is ready."""

    async def skipped(self, page: Page) -> str | None:
        """Return why ``page`` has nothing to read. This parses it, unless the spider has done so."""
        return page.skipped

    async def learn(self, page: Page, *, ready: bool) -> Learned:
        """Learn ``page``."""
        return self._pages.learn(page, ready=ready)

    async def clean(self, page: Page, *, warm: bool) -> CleanedPage:
        """Clean ``page``."""
        return self._pages.clean(page, warm=warm)

    async def raw(self, page: Page) -> CleanedPage:
        """Return ``page`` with all of its text."""
        return self._pages.raw(page)

    async def part(self, page: Page, cleaned: CleanedPage, part: str) -> CleanPage:  # noqa: ARG002
        """Return the clean text of a part of a cleaned page; raise PartError if the part is not there."""
        assert isinstance(cleaned, Cleaned)  # noqa: S101 - it was made here
        return self._pages.part(cleaned, part)

    async def preview(self, page: Page) -> CleanedPage:
        """Clean ``page`` for somebody who looks at it."""
        return self._pages.preview(page)

    async def save(self, site: str | None) -> None:
        """Write what is known of ``site``, None: of all sites."""
        self._pages.save(site)

    async def close(self) -> None:
        """Do nothing: there is nothing to end."""
