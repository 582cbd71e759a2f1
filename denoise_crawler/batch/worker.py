"""The work of one process of a batch: it learns pages, merges knowledge and judges pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from denoise_crawler.denoiser import Cleaned, Cleaning, Denoiser
from denoise_crawler.output.clean_page import CLEANED, LEARNED, RENDERED, CleanPage, PageFailure, failed_page
from denoise_crawler.output.writing import RENDERINGS, columns_for
from denoise_crawler.page import Page
from denoise_crawler.page.held_pages import KeptPages
from denoise_crawler.page.site import site_name
from denoise_crawler.page.text import hash64, without_lone_surrogates
from denoise_crawler.store import SiteState, Store
from denoise_crawler.store.shared import StoredKnowledge
from denoise_crawler.workers import worker_number

Batch = list[tuple[str, str | bytes]]


@dataclass(frozen=True, slots=True)
class Job:
    """The arguments of :func:`denoise_crawler.batch.clean_pages`, for its processes.

    Raises:
        ValueError: An argument is wrong.

    """

    cleaning: Cleaning
    render: str | None
    site: Callable[[str], str]
    workers: int

    def __post_init__(self) -> None:
        if self.render is not None and self.render not in RENDERINGS:
            raise ValueError(f"unknown rendering {self.render!r}; there are {', '.join(RENDERINGS)}")
        if self.workers < 1:
            raise ValueError(f"workers must be at least 1, not {self.workers}")


@dataclass(frozen=True, slots=True)
class Learned:
    """The readable pages learned of each site, and the failures of others."""

    pages: Counter[str] = field(default_factory=Counter)
    failed: list[PageFailure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BatchResult:
    """One page of a batch: its :class:`CleanPage` and, if asked for, the page as ``rendered``.

    ``visible`` and ``kept`` count characters as in :class:`denoise_crawler.denoiser.Cleaned`, ``html_bytes`` is
    the size of the page (text in UTF-8). ``skipped`` says why the page has no nodes. ``failure`` is what was
    raised while the page was cleaned (then it has no text, and names the error) or rendered (then ``rendered`` is
    None); ``logged`` says that the same page failed before. ``passed_over`` is the file of site rules that would
    have left next to nothing. A ``dropped`` page belongs to a short site, or is unsure, and is not written.
    """

    page: CleanPage
    rendered: str | None = None
    html_bytes: int = 0
    visible: int = 0
    kept: int = 0
    skipped: str | None = None
    failure: PageFailure | None = None
    logged: bool = False
    guarded: bool = False
    passed_over: str = ""
    dropped: bool = False

    @property
    def error(self) -> str | None:
        """The failure in one line, None without one."""
        return None if self.failure is None else self.failure.error


class BatchWorker:
    """Does the tasks of process ``number``, with stores in ``folder``.

    Each process learns into a store of its own. Merged knowledge of a site lies in the store that the hash of its
    name chooses.
    """

    def __init__(self, job: Job, folder: str, number: int) -> None:
        self._job, self._cleaning, self._folder, self._number = job, job.cleaning, Path(folder), number
        self._key = job.cleaning.choice.key
        self._stores: dict[str, Store] = {}
        self._ready: dict[str, bool] = {}
        self._readable: Counter[str] = Counter()
        self._kept: KeptPages[tuple[str, str]] = KeptPages()
        self._failed: set[int] = set()  # keys of pages that could not be learned
        learned = StoredKnowledge(self._store("learned", number), self._cleaning.choice)
        self._denoiser = self._cleaning.denoiser(learned)

    def close(self) -> None:
        """Close the stores."""
        for store in self._stores.values():
            store.close()

    def learn(self, batch: Batch) -> Learned:
        """Learn a batch of pages, site by site. Learned pages are kept while there is room.

        A page that teaches nothing is not parsed, unless the site may need it to be warm.
        """
        learned = Learned()
        for site, url, html in sorted(self._with_sites(batch), key=lambda page: page[0]):
            try:
                page = Page.parse(url, html, site=site)
                method = self._denoiser.method_for(site)
                wanted = method.wants(page)
                if wanted or self._readable[site] < self._cleaning.warmup_pages:
                    self._denoiser.learn(page)
                    learned.pages[site] += not page.skipped
                    self._readable[site] += not page.skipped
                if wanted:
                    self._keep(site, page, html)
            except Exception as error:  # whatever it is, the other pages go on
                learned.failed.append(PageFailure.of(url, LEARNED, error))
                self._failed.add(hash64(url))
        return learned

    def settle(self) -> None:
        """Write the knowledge to disk; from now on judge by the merged knowledge."""
        self._denoiser.save()
        merged = StoredKnowledge(self._merged_store, self._cleaning.choice, read_only=True)
        self._denoiser = self._cleaning.denoiser(merged)

    def merge(self, sites: dict[str, int]) -> None:
        """Merge what all processes learned of ``sites``, given with their page counts."""
        home = self._store("known", self._number)
        learned = [self._store("learned", number) for number in range(self._job.workers)]
        for site, pages in sites.items():
            parts = [part for store in learned for part in store.knowledge(site, self._key)]
            if len(parts) > 1:
                parts = [self._cleaning.choice.knowing(parts, site).to_bytes()]
            for known in parts:
                StoredKnowledge(home, self._cleaning.choice).put(site, known)
            home.save_state(site, self._key, SiteState(pages, pages >= self._cleaning.warmup_pages))

    def judge(self, batch: Batch) -> list[BatchResult]:
        """Judge a batch of pages, site by site, and return the results in the order of the batch."""
        found: dict[int, BatchResult] = {}
        for number, (site, url, html) in sorted(enumerate(self._with_sites(batch)), key=lambda page: page[1][0]):
            short = None if self._is_warm(site) else self._cleaning.short_sites
            page = self._kept.take((site, url), html)
            render = self._job.render
            result = clean_page(self._denoiser, site, url, html, page=page, render=render, short=short)
            found[number] = replace(result, logged=True) if hash64(url) in self._failed else result
        return [found[number] for number in range(len(batch))]

    def _keep(self, site: str, page: Page, html: str | bytes) -> None:
        columns, cleaning = None, self._cleaning
        if self._job.render is None:
            columns = columns_for(page, cleaning.choice, cleaning.writing, cleaning.rules)
        self._kept.keep((site, page.url), page if columns is None else columns, html)

    def _is_warm(self, site: str) -> bool:
        if not self._cleaning.warmup_pages or not self._denoiser.learns:
            return True
        if site not in self._ready:
            self._ready[site] = self._merged_store(site).site(site, self._key).ready
        return self._ready[site]

    def _with_sites(self, batch: Batch) -> Iterator[tuple[str, str, str | bytes]]:
        for url, html in batch:
            yield site_by(self._job.site, url), without_lone_surrogates(url), html

    def _merged_store(self, site: str) -> Store:
        return self._store("known", worker_number(site, self._job.workers))

    def _store(self, kind: str, number: int) -> Store:
        name = f"{kind}-{number}.sqlite"
        if name not in self._stores:
            self._stores[name] = Store(self._folder / name)
        return self._stores[name]


def site_by(site: Callable[[str], str], url: str) -> str:
    """Return the site of ``url``; "" if the user's function raises."""
    try:
        return site_name(site(url))
    except Exception:
        return ""


def clean_page(
    denoiser: Denoiser,
    site: str,
    url: str,
    html: str | bytes,
    *,
    page: Page | None = None,
    render: str | None = None,
    short: str | None = None,
) -> BatchResult:
    """Clean a page. If that raises, the page has no text and names the error.

    Args:
        denoiser: Knows the site.
        site: The page's site.
        url: The page's URL.
        html: The page.
        page: The page, if it is parsed already.
        render: One of :data:`RENDERINGS`, to get the page rendered as well.
        short: What becomes of the page if its site has too few pages (see SHORT_SITES); None if it has enough.

    """
    size = len(html) if isinstance(html, bytes) else len(html.encode("utf-8", "surrogatepass"))
    if short == "drop":
        return BatchResult(CleanPage(url, site, warm=False), html_bytes=size, dropped=True)
    try:
        page = Page.parse(url, html, site=site) if page is None else page
        cleaned = denoiser.raw(page) if short == "raw" else denoiser.clean(page, warm=short is None)
        result = _batch_result(cleaned, size, render)
        return replace(result, dropped=denoiser.drops(cleaned.clean_page))
    except Exception as error:  # whatever it is, the other pages go on
        failure = PageFailure.of(url, CLEANED, error)
        return BatchResult(failed_page(url, site, failure.error), html_bytes=size, failure=failure)


def _batch_result(cleaned: Cleaned, size: int, render: str | None) -> BatchResult:
    rendered = failure = None
    if render is not None:
        try:
            rendered = RENDERINGS[render](cleaned.page, cleaned.judgement)
        except Exception as error:
            failure = PageFailure.of(cleaned.page.url, RENDERED, error)
    return BatchResult(
        page=cleaned.clean_page,
        rendered=rendered,
        html_bytes=size,
        visible=cleaned.visible,
        kept=cleaned.kept,
        skipped=cleaned.page.skipped,
        failure=failure,
        guarded=cleaned.guarded,
        passed_over="" if cleaned.judgement is None else cleaned.judgement.passed_over,
    )
