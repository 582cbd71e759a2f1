"""Cleaning many pages on all cores: each site is learned from all of its pages, then these are judged."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from denoise_crawler.batch.process_pool import Caller, Limits, Task, Worker, open_workers, run_in_order
from denoise_crawler.batch.worker import (
    BatchResult,
    BatchWorker,
    Job,
    Learned,
    failed_result,
    site_by,
    temporary_folder,
)
from denoise_crawler.denoiser import PLAIN_TEXT, SITES_IN_MEMORY, Cleaning
from denoise_crawler.errors import BatchError, WorkerDiedError, WorkerError
from denoise_crawler.methods import DEFAULT_METHOD, MethodChoice
from denoise_crawler.output.clean_page import CLEANED, LEARNED, PageFailure
from denoise_crawler.page.site import site_of
from denoise_crawler.page.text import hash64, without_lone_surrogates
from denoise_crawler.rules import NO_RULES, SiteRules

if TYPE_CHECKING:
    from denoise_crawler.output.writing import Writing

    Pages = Iterable[tuple[str, str | bytes]]

__all__ = ["BatchError", "BatchResult", "BatchStats", "Job", "Limits", "clean_as", "clean_pages", "cores"]

_TRIES = 2  # of a page whose process dies, so that one killed from outside costs no page
_MAX_UNSAVED_PAGES = 64  # that a process has learned and would forget if it died
_MAX_UNSAVED_BYTES = 4 << 20
_MAX_EXAMPLES = 3


@dataclass
class BatchStats:
    """The sums of a batch.

    ``failed`` counts the pages that could not be cleaned or rendered, ``unlearned`` those that raised while
    they were learned; ``examples`` holds (url, error) of some. ``cold`` pages belong to sites with too few pages.
    ``passed_over`` counts the pages of which the rules of a file would have left next to nothing, by file.
    ``unsure`` pages have a confidence below the least that was asked for. ``html_bytes`` and ``text_bytes`` are
    sizes in UTF-8. ``characters_before`` and ``characters_after`` count characters without white space: all, and
    those that were kept.
    """

    pages: int = 0
    cold: int = 0
    dropped: int = 0
    guarded: int = 0
    unsure: int = 0
    failed: int = 0
    unlearned: int = 0
    html_bytes: int = 0
    text_bytes: int = 0
    characters_before: int = 0
    characters_after: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    passed_over: Counter[str] = field(default_factory=Counter)
    sites: set[str] = field(default_factory=set)
    examples: list[tuple[str, str]] = field(default_factory=list)

    def add(self, result: BatchResult) -> None:
        """Count one page."""
        page = result.page
        self.pages += 1
        self.cold += not page.warm and not page.error
        self.dropped += result.dropped
        self.guarded += result.guarded
        self.unsure += bool(page.low_confidence)
        self.html_bytes += result.html_bytes
        self.text_bytes += len(str(page.text).encode("utf-8", "surrogatepass"))
        self.characters_before += result.visible
        self.characters_after += result.kept
        self.sites.add(page.site)
        if result.passed_over:
            self.passed_over[result.passed_over] += 1
        if result.skipped:
            self.skipped[result.skipped] += 1
        if result.failure:
            self.failed += 1
            self.name(result.failure)

    def name(self, failure: PageFailure) -> None:
        """Keep a failure as an example while there are few."""
        if len(self.examples) < _MAX_EXAMPLES:
            self.examples.append((failure.url, failure.error))


def clean_pages(
    pages: Callable[[], Pages],
    method: str | MethodChoice = DEFAULT_METHOD,
    *,
    workers: int | None = None,
    render: str | None = None,
    site: Callable[[str], str] = site_of,
    warmup_pages: int = 0,
    short_sites: str = "clean",
    sites_in_memory: int = SITES_IN_MEMORY,
    writing: Writing = PLAIN_TEXT,
    rules: SiteRules | str | Path = NO_RULES,
    stats: BatchStats | None = None,
    limits: Limits | None = None,
) -> Iterator[BatchResult]:
    """Learn each site from all of its pages, then clean the pages, on all cores.

    A page on which this raises comes out without text; its ``error`` names the exception, and one line of the log
    has the traceback. So does a page that exceeds the ``limits`` or kills its process, when it has done so twice.
    Processes are spawned, so a script must call this under ``if __name__ == "__main__"``.

    Args:
        pages: Returns (url, html) pairs. It is called twice for a method that learns.
        method: The name of the method, or a choice of one with its options.
        workers: The number of processes; one per core if not given. With 1 all is done in this process, without
            limits. The result is the same for every number.
        render: One of :data:`~denoise_crawler.output.writing.RENDERINGS`, to get each page rendered as well.
        site: Returns the site of a URL.
        warmup_pages: A page is warm if its site has this many readable pages.
        short_sites: What becomes of other pages, as the setting DENOISE_SHORT_SITES says: clean or drop.
        sites_in_memory: How many sites each process keeps in memory; the others lie in a temporary folder.
        writing: How the text is written.
        rules: Site rules, or the folder where they lie.
        stats: Sums to keep up to date.
        limits: The limits of one page: 60 s of CPU time, 600 s by the clock and 4 GiB if not given.

    Returns:
        An iterator over the results, in the order of the pages.

    Raises:
        MethodError: The method or an option is unknown.
        RulesError: The folder of rules cannot be read.
        ValueError: Another argument is wrong.
        BatchError: While iterating: no process can be started, or the disk is full.

    Example:
        >>> pages = [("https://example.com/1", "<nav><a href=/>Home</a></nav><p>A story.</p>")]
        >>> [result.page.text for result in clean_pages(lambda: pages, "link_ratio", workers=1)]
        ['A story.']
    """
    known_rules = SiteRules.of_folder(rules)
    cleaning = Cleaning(MethodChoice.of(method), writing, known_rules, warmup_pages, short_sites, sites_in_memory)
    job = Job(cleaning, render, site, cores() if workers is None else workers, limits or Limits())
    return clean_as(job, pages, BatchStats() if stats is None else stats)


def clean_as(
    job: Job, pages: Callable[[], Pages], stats: BatchStats, is_done: Callable[[str], bool] = lambda _: False
) -> Generator[BatchResult, None, None]:
    """Do what :func:`clean_pages` says, its other arguments in a record.

    Pages of which ``is_done`` is true are learned only. It is called with the address of each page, in order.
    """
    with _named_errors(), temporary_folder() as folder:
        make = partial(BatchWorker, job.cleaning, job.render, folder)
        with open_workers(make, job.workers, job.limits, tries=_TRIES, isolated=job.isolated) as workers:
            batch = _Batch(job, workers, stats)
            if job.cleaning.choice.learns:
                batch.learn_all(pages())
            yield from batch.judge_all((url, html) for url, html in pages() if not is_done(url))


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _named_errors() -> Iterator[None]:
    try:
        yield
    except WorkerError as error:
        raise BatchError(f"a worker process failed: {error}") from None


class _Batch:
    """One run over pages; each site is learned by one worker."""

    def __init__(self, job: Job, workers: Sequence[Caller], stats: BatchStats) -> None:
        self._job, self._workers, self._stats = job, workers, stats
        self._readable: Counter[str] = Counter()
        self._failed: set[int] = set()  # the keys of pages that could not be learned
        self._deadly: dict[int, str] = {}  # how processes died, by the page that they had in hand
        self._unsaved_bytes = [0] * len(workers)

    def learn_all(self, pages: Pages) -> None:
        """Learn the pages, and have every worker write what it knows."""
        sites: deque[tuple[str, str]] = deque()  # of the pages under way

        def tasks() -> Iterator[Task]:
            for url, html in pages:
                site, number = self._place(url)
                sites.append((site, url))
                yield Task(partial(self._learn, site, number, url, html), number)

        for learned in run_in_order(tasks(), self._workers):
            site, url = sites.popleft()
            self._readable[site] += learned.is_readable
            if learned.failure:
                self._stats.unlearned += 1
                self._failed.add(hash64(url))
                learned.failure.log()
                self._stats.name(learned.failure)
        saving = (Task(partial(self._save, number), number) for number in range(len(self._workers)))
        list(run_in_order(saving, self._workers))

    def judge_all(self, pages: Pages) -> Iterator[BatchResult]:
        """Judge the pages, where possible in the process that learned them, and yield the results in order."""
        tasks = (self._judging(url, html) for url, html in pages)
        for result in run_in_order(tasks, self._workers):
            self._stats.add(result)
            if result.failure and hash64(result.page.url) not in self._failed:
                result.failure.log()
            yield result

    def _place(self, url: str) -> tuple[str, int]:
        """Return the site of a page, and the number of the worker that learns it."""
        site = site_by(self._job.site, url)
        return site, hash64(site) % len(self._workers)

    def _learn(self, site: str, number: int, url: str, html: str | bytes, worker: Caller) -> Learned:
        try:
            learned = worker.call(BatchWorker.learn, site, url, html)
        except WorkerDiedError as error:
            self._deadly[hash((url, html))] = str(error)
            return Learned(failure=PageFailure.of(without_lone_surrogates(url), LEARNED, error))
        if isinstance(worker, Worker):  # its next process would have to learn the page again
            worker.on_start.append((BatchWorker.learn, (site, url, html)))
            self._unsaved_bytes[number] += len(html)
            if len(worker.on_start) >= _MAX_UNSAVED_PAGES or self._unsaved_bytes[number] >= _MAX_UNSAVED_BYTES:
                self._save(number, worker)
        return learned

    def _save(self, number: int, worker: Caller) -> None:
        worker.call(BatchWorker.save)
        worker.on_start.clear()
        self._unsaved_bytes[number] = 0

    def _judging(self, url: str, html: str | bytes) -> Task:
        site, number = self._place(url)
        is_warm = not self._job.cleaning.choice.learns or self._readable[site] >= self._job.cleaning.warmup_pages
        short = None if is_warm else self._job.cleaning.short_sites
        return Task(partial(self._judge, site, url, html, short), number, may_move=True)

    def _judge(self, site: str, url: str, html: str | bytes, short: str | None, worker: Caller) -> BatchResult:
        try:
            if died := self._deadly.get(hash((url, html))):
                raise WorkerDiedError(died)
            return worker.call(BatchWorker.judge, site, url, html, short)
        except WorkerDiedError as error:
            failure = PageFailure.of(without_lone_surrogates(url), CLEANED, error)
            return failed_result(site, html, failure)
