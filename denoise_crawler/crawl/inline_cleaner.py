"""What a crawl asks of a cleaner, and the cleaner that works at once, in the process of the crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from denoise_crawler.crawl.page_cleaner import PageCleaner
from denoise_crawler.denoiser import Cleaned

if TYPE_CHECKING:
    from denoise_crawler.crawl.page_cleaner import Learned, Timed
    from denoise_crawler.denoiser import Cleaning
    from denoise_crawler.methods import Judgement
    from denoise_crawler.methods.base import Knowledge
    from denoise_crawler.output.clean_page import CleanPage
    from denoise_crawler.page import Page


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
