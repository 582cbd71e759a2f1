"""Cleaning many pages on all cores: each site is learned from all of its pages, then these are judged."""

from __future__ import annotations

import os
import pickle
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from denoise_crawler.batch.processes import BatchError, Task, crew
from denoise_crawler.batch.worker import BatchResult, BatchWorker, Job, home_of
from denoise_crawler.denoiser import AS_TEXT, SITES_IN_MEMORY
from denoise_crawler.methods import DEFAULT_METHOD, MethodChoice
from denoise_crawler.output.extractors import check
from denoise_crawler.output.renderings import RENDERINGS
from denoise_crawler.page.site import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from denoise_crawler.batch.processes import Crew
    from denoise_crawler.output.writing import Writing

    Pages = Iterable[tuple[str, str | bytes]]
    Batch = list[tuple[str, str | bytes]]

__all__ = ["BatchError", "BatchResult", "Tally", "clean_pages", "cores"]

SHORT_SITES = ("clean", "raw", "drop")
_BATCH_PAGES = 64
_BATCH_BYTES = 1 << 20
_SITES_AT_A_TIME = 64
_EXAMPLES = 3


@dataclass
class Tally:
    """The sums of a batch.

    ``failed`` counts pages that made the method or the rendering raise, ``examples`` has (url, error) of
    some; ``unlearned`` those that raised while they were learned. ``cold`` ones are of sites with too few
    pages. ``html_bytes`` is the size of the pages as read (text counts in UTF-8), ``text_bytes`` that of the
    clean text. ``characters_before`` counts the characters of the pages that are no white space,
    ``characters_after`` those of them that were kept.
    """

    pages: int = 0
    cold: int = 0
    dropped: int = 0
    guarded: int = 0
    failed: int = 0
    unlearned: int = 0
    html_bytes: int = 0
    text_bytes: int = 0
    characters_before: int = 0
    characters_after: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    sites: set[str] = field(default_factory=set)
    examples: list[tuple[str, str]] = field(default_factory=list)

    def add(self, result: BatchResult) -> None:
        """Count one page."""
        page = result.page
        self.pages += 1
        self.cold += not page.warm and not result.error
        self.dropped += result.dropped
        self.guarded += result.guarded
        self.html_bytes += result.html_bytes
        self.text_bytes += len(page.text.encode("utf-8", "surrogatepass"))
        self.characters_before += result.visible
        self.characters_after += result.kept
        self.sites.add(page.site)
        if result.skipped:
            self.skipped[result.skipped] += 1
        if result.error:
            self.failed += 1
            self.name(page.url, result.error)

    def name(self, url: str, error: str) -> None:
        """Keep what went wrong with a page as an example, if there are few so far."""
        if len(self.examples) < _EXAMPLES:
            self.examples.append((url, error))


def clean_pages(
    pages: Callable[[], Pages],
    method: str = DEFAULT_METHOD,
    options: dict[str, object] | None = None,
    *,
    workers: int | None = None,
    render: str | None = None,
    site: Callable[[str], str] = site_of,
    warmup_pages: int = 0,
    short_sites: str = "clean",
    sites_in_memory: int = SITES_IN_MEMORY,
    writing: Writing = AS_TEXT,
    tally: Tally | None = None,
) -> Iterator[BatchResult]:
    """Learn each site from all of its pages and yield these cleaned, in order, by ``workers`` processes.

    ``pages`` is called for each reading: a method that learns reads twice. The result does not depend on
    the number of workers (None: one a core; with 1 all is done in this process). ``render`` is one of
    :data:`RENDERINGS`, ``writing`` says how the text is written. A page is warm if its site has at least
    ``warmup_pages`` readable pages; ``short_sites`` says what becomes of the others, as the setting
    DENOISE_SHORT_SITES does. What is known of sites lies in a temporary folder. ``tally`` is kept up to date.

    A page that makes the method raise comes out with all of its text. Raises :class:`MethodError` for an
    unknown method or option and ValueError for other arguments, at once; later :class:`BatchError`.
    Processes are spawned: a script must call this under ``if __name__ == "__main__"``.
    """
    learns = MethodChoice(method, options or {}).learns
    if render is not None and render not in RENDERINGS:
        raise ValueError(f"unknown rendering {render!r}; there are {', '.join(RENDERINGS)}")
    if short_sites not in SHORT_SITES:
        raise ValueError(f"short_sites is {short_sites!r}; it must be one of {', '.join(SHORT_SITES)}")
    count = cores() if workers is None else workers
    if count < 1:
        raise ValueError(f"workers must be at least 1, not {count}")
    check(writing.extractor, writing.extractor_options)
    job = Job(method, options or {}, render, site, warmup_pages, short_sites, sites_in_memory, count, writing)
    if count > 1:
        _check_picklable(job)
    return _cleaned(pages, job, learns=learns, tally=Tally() if tally is None else tally)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_picklable(job: Job) -> None:
    try:
        pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"this cannot be given to another process: {error}. Use functions that can be imported, or one worker."
        ) from None


def _cleaned(pages: Callable[[], Pages], job: Job, *, learns: bool, tally: Tally) -> Iterator[BatchResult]:
    with (
        TemporaryDirectory(prefix="denoise-") as folder,
        crew(partial(BatchWorker, job, folder), job.workers) as workers,
    ):
        if learns:
            _learn(pages(), workers, job.workers, tally)
        for batch in workers.run(Task("judge", batch, about=_about(batch)) for batch in _batches(pages())):
            for result in batch:
                tally.add(result)
                yield result


def _learn(pages: Pages, workers: Crew, count: int, tally: Tally) -> None:
    """Have all pages learned, then what each process knows of a site merged into one place."""
    found: Counter[str] = Counter()
    for learned in workers.run(_by_address(pages, count)):
        found.update(learned.pages)
        tally.unlearned += len(learned.failed)
        for url, error in learned.failed:
            tally.name(url, error)
    _finish(workers.run(Task("settle", None, number) for number in range(count)))
    _finish(workers.run(_merges(found, count)))


def _finish(results: Iterator[object]) -> None:
    deque(results, maxlen=0)


def _by_address(pages: Pages, count: int) -> Iterator[Task]:
    """Give all pages of an address to one process, in order: of them the first one is learned."""
    shares = [_Share() for _ in range(count)]
    for page in pages:
        home = home_of(page[0], count)
        if batch := shares[home].add(page):
            yield Task("learn", batch, home, _about(batch))
    yield from (
        Task("learn", share.pages, home, _about(share.pages)) for home, share in enumerate(shares) if share.pages
    )


def _batches(pages: Pages) -> Iterator[Batch]:
    share = _Share()
    for page in pages:
        if batch := share.add(page):
            yield batch
    if share.pages:
        yield share.pages


def _merges(found: Counter[str], count: int) -> Iterator[Task]:
    shares: list[dict[str, int]] = [{} for _ in range(count)]
    for site, pages in found.items():
        home = home_of(site, count)
        shares[home][site] = pages
        if len(shares[home]) >= _SITES_AT_A_TIME:
            yield Task("merge", shares[home], home)
            shares[home] = {}
    yield from (Task("merge", share, home) for home, share in enumerate(shares) if share)


class _Share:
    """Pages that are collected until they are worth a task."""

    def __init__(self) -> None:
        self.pages: Batch = []
        self._bytes = 0

    def add(self, page: tuple[str, str | bytes]) -> Batch | None:
        """Add a page; return all, and start anew, if they are enough."""
        self.pages.append(page)
        self._bytes += len(page[1])
        if len(self.pages) < _BATCH_PAGES and self._bytes < _BATCH_BYTES:
            return None
        full, self.pages, self._bytes = self.pages, [], 0
        return full


def _about(batch: Batch) -> str:
    return f"{len(batch)} pages, from {batch[0][0]} to {batch[-1][0]},"
