"""What one process of a batch does: learn pages, merge what was learned, judge pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from denoise_crawler.batch.processes import told
from denoise_crawler.denoiser import RAW, Denoiser
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.renderings import RENDERINGS
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_name
from denoise_crawler.page.text import hash64, without_lone_surrogates
from denoise_crawler.store import SiteState, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from denoise_crawler.denoiser import Cleaned
    from denoise_crawler.methods.knowledge import Knowledge

    Batch = list[tuple[str, str | bytes]]


@dataclass(frozen=True, slots=True)
class Job:
    """What every process of a batch must know; see :func:`denoise_crawler.batch.clean_pages`."""

    method: str
    options: dict[str, object]
    render: str | None
    site: Callable[[str], str]
    warmup_pages: int
    short_sites: str
    sites_in_memory: int
    workers: int
    writing: Writing


@dataclass(frozen=True, slots=True)
class Learned:
    """What came of learning pages: how many readable ones each site had, and (url, error) of those that failed."""

    pages: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BatchResult:
    """One page of a batch: its :class:`CleanPage` and, if asked for, the page as ``rendered``.

    ``visible`` and ``kept`` count characters as in :class:`denoise_crawler.denoiser.Cleaned`, ``html_bytes``
    the bytes of the page as read (text counts in UTF-8). ``skipped`` names why it has no nodes. ``error`` is
    what was raised: by the method, then all of the page's text is kept and its method is "raw", or by the
    rendering, then ``rendered`` is None. A ``dropped`` page is one of a short site and is not to be written.
    """

    page: CleanPage
    rendered: str | None = None
    html_bytes: int = 0
    visible: int = 0
    kept: int = 0
    skipped: str | None = None
    error: str | None = None
    guarded: bool = False
    dropped: bool = False


class BatchWorker:
    """Does the tasks of process ``number``: each is a method. What is known of sites lies in ``folder``.

    What each process learns goes into a store of its own; merged, the sites are shared out among stores by
    the hash of their names.
    """

    def __init__(self, job: Job, folder: str, number: int) -> None:
        self._job, self._folder, self._number = job, Path(folder), number
        self._key = MethodChoice(job.method, job.options).key
        self._stores: dict[str, Store] = {}
        self._ready: dict[str, bool] = {}
        self._denoiser = self._denoiser_with(_LearnedShelf(self))

    def close(self) -> None:
        """Close the stores."""
        for store in self._stores.values():
            store.close()

    def learn(self, batch: Batch) -> Learned:
        """Learn pages, site by site."""
        learned = Learned()
        for site, url, html in sorted(self._sited(batch), key=lambda page: page[0]):
            try:
                page = Page.parse(url, html, site=site)
                self._denoiser.learn(page)
                learned.pages[site] += not page.skipped
            except Exception as error:  # whatever it is, the other pages are to go on
                learned.failed.append((url, told(error)))
        return learned

    def settle(self, _: None) -> None:
        """Write what was learned to disk."""
        self._denoiser.save()
        self._denoiser = self._denoiser_with(_KnownShelf(self))

    def merge(self, sites: dict[str, int]) -> None:
        """Merge what all processes learned of ``sites``, given with their numbers of pages."""
        home = self._store("known", self._number)
        for site, pages in sites.items():
            parts = [self.learned(site, number) for number in range(self._job.workers)]
            if known := self._merged([part for part in parts if part]):
                home.save_knowledge(site, self._key, known, _newer)
            home.save_state(site, self._key, SiteState(pages, pages >= self._job.warmup_pages))

    def judge(self, batch: Batch) -> list[BatchResult]:
        """Judge pages, site by site, and return them in the order they came."""
        found: dict[int, BatchResult] = {}
        for number, page in sorted(enumerate(self._sited(batch)), key=lambda numbered: numbered[1][0]):
            found[number] = self._judged(*page)
        return [found[number] for number in range(len(batch))]

    def learned(self, site: str, number: int | None = None) -> bytes | None:
        """Return what process ``number`` (None: this one) learned of ``site``."""
        found = self._store("learned", self._number if number is None else number).knowledge(site, self._key)
        return found[0] if found else None

    def keep_learned(self, site: str, knowledge: bytes) -> None:
        """Write what this process has learned of ``site``."""
        self._store("learned", self._number).save_knowledge(site, self._key, knowledge, _newer)

    def known(self, site: str) -> bytes | None:
        """Return what all processes learned of ``site``."""
        found = self._home(site).knowledge(site, self._key)
        return found[0] if found else None

    def _merged(self, parts: list[bytes]) -> bytes | None:
        if len(parts) < 2:
            return parts[0] if parts else None
        return MethodChoice(self._job.method, self._job.options).knowing(parts, "a site").to_bytes()

    def _judged(self, site: str, url: str, html: str | bytes) -> BatchResult:
        size = len(html) if isinstance(html, bytes) else len(html.encode("utf-8", "surrogatepass"))
        try:
            page = Page.parse(url, html, site=site)
            if self._is_warm(site):
                cleaned = self._denoiser.clean(page)
            elif self._job.short_sites == "drop":
                return BatchResult(CleanPage(url, site, warm=False), html_bytes=size, dropped=True)
            elif self._job.short_sites == "raw":
                cleaned = self._denoiser.raw(page)
            else:
                cleaned = self._denoiser.clean(page, warm=False)
            return self._result(cleaned, size)
        except Exception as error:  # whatever it is, the other pages are to go on
            return self._unharmed(url, html, site, size, told(error))

    def _result(self, cleaned: Cleaned, size: int, error: str | None = None) -> BatchResult:
        rendered = None
        if self._job.render is not None:
            try:
                rendered = RENDERINGS[self._job.render](cleaned.page, cleaned.judgement)
            except Exception as raised:
                error = error or told(raised)
        return BatchResult(
            page=cleaned.clean_page,
            rendered=rendered,
            html_bytes=size,
            visible=cleaned.visible,
            kept=cleaned.kept,
            skipped=cleaned.page.skipped,
            error=error,
            guarded=cleaned.guarded,
        )

    def _unharmed(self, url: str, html: str | bytes, site: str, size: int, error: str) -> BatchResult:
        """Return a page that could not be judged with all its text; without any, if that cannot be had either."""
        try:
            return self._result(self._denoiser.raw(Page.parse(url, html, site=site)), size, error)
        except Exception:
            return BatchResult(CleanPage(url, site, method=RAW, warm=False), html_bytes=size, error=error)

    def _is_warm(self, site: str) -> bool:
        if not self._job.warmup_pages or not self._denoiser.learns:
            return True
        if site not in self._ready:
            self._ready[site] = self._home(site).site(site, self._key).ready
        return self._ready[site]

    def _sited(self, batch: Batch) -> Iterator[tuple[str, str, str | bytes]]:
        for url, html in batch:
            try:
                site = site_name(self._job.site(url))
            except Exception:  # a function of the user's that cannot take this address
                site = ""
            yield site, without_lone_surrogates(url), html

    def _denoiser_with(self, knowledge: Knowledge) -> Denoiser:
        job, choice = self._job, MethodChoice(self._job.method, self._job.options)
        return Denoiser(choice, knowledge=knowledge, sites_in_memory=job.sites_in_memory, writing=job.writing)

    def _home(self, site: str) -> Store:
        return self._store("known", home_of(site, self._job.workers))

    def _store(self, kind: str, number: int) -> Store:
        name = f"{kind}-{number}.sqlite"
        if name not in self._stores:
            self._stores[name] = Store(self._folder / name)
        return self._stores[name]


def home_of(name: str, workers: int) -> int:
    """Return the number of the process that a site or an address belongs to."""
    return hash64(name) % workers


@dataclass(frozen=True, slots=True)
class _LearnedShelf:
    worker: BatchWorker

    def get(self, site: str) -> bytes | None:
        return self.worker.learned(site)

    def put(self, site: str, knowledge: bytes) -> None:
        self.worker.keep_learned(site, knowledge)


@dataclass(frozen=True, slots=True)
class _KnownShelf:
    worker: BatchWorker

    def get(self, site: str) -> bytes | None:
        return self.worker.known(site)

    def put(self, site: str, knowledge: bytes) -> None:
        """Judging teaches nothing."""


def _newer(parts: list[bytes]) -> bytes:
    return parts[-1]  # what was there was read before, so it is in the new one
