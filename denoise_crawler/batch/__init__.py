"""Cleaning many pages on all cores: each site is learned from all of its pages, then these are judged."""

from __future__ import annotations

import os
import pickle
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any

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
_SPOOLED_BYTES = 64 << 20  # of results in memory; the others lie in a file
_MOST_EARLY = 1_000_000  # results there: some 5 GB, and 200 MB of memory for their places


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
        pages: Returns (url, html) pairs. It is called three times for a method that learns: to count the pages of
            each site, to learn, and to clean.
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
    job: Job, pages: Callable[[], Pages], stats: BatchStats, is_done: Callable[[str], bool] | None = None
) -> Generator[BatchResult, None, None]:
    """Do what :func:`clean_pages` says, its other arguments in a record.

    Pages of which ``is_done`` is true are learned only. It is called with the address of each page, in order.
    """
    with _named_errors(), temporary_folder() as folder, SpooledTemporaryFile(_SPOOLED_BYTES) as spool:
        make = partial(BatchWorker, job.cleaning, job.render, folder)
        with open_workers(make, job.workers, job.limits, tries=_TRIES, isolated=job.isolated) as workers:
            batch = _Batch(job, workers, stats, spool)
            if job.cleaning.choice.learns:
                batch.count(pages())
                batch.learn_all(pages(), judges_early=is_done is None)
            yield from batch.judge_all(page for page in pages() if is_done is None or not is_done(page[0]))


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

    def __init__(self, job: Job, workers: Sequence[Caller], stats: BatchStats, spool: IO[bytes]) -> None:
        self._job, self._workers, self._stats, self._spool = job, workers, stats, spool
        self._offsets: dict[int, int] = {}  # of results in the spool, by the key of their page
        self._left: Counter[str] = Counter()  # the pages of each site that are not learned yet
        self._alone: set[str] = set()  # sites whose one page need not be learned
        self._kept: defaultdict[str, list[int]] = defaultdict(list)  # the keys of pages that workers keep parsed
        self._readable: Counter[str] = Counter()
        self._failed: set[int] = set()  # the hashes of addresses that could not be learned
        self._deadly: dict[int, str] = {}  # how processes died, by the key of the page that they had in hand
        self._unsaved_bytes = [0] * len(workers)

    def count(self, pages: Pages) -> None:
        """Count the pages of each site."""
        self._left.update(site_by(self._job.site, url) for url, _ in pages)
        # a warm-up of one page is reached by that page, if it can be read
        if self._job.cleaning.choice.needs_others and self._job.cleaning.warmup_pages != 1:
            self._alone = {site for site, count in self._left.items() if count == 1}

    def learn_all(self, pages: Pages, *, judges_early: bool) -> None:
        """Learn the pages, and have every worker write what it knows.

        Args:
            pages: The pages that were counted.
            judges_early: Whether the pages that a worker keeps parsed are judged when their site is learned.
        """
        urls: deque[str] = deque()  # of the pages under way

        def tasks() -> Iterator[Task]:
            for url, html in pages:
                site, number = self._place(url)
                if site not in self._alone:
                    urls.append(url)
                    is_early = judges_early and len(self._offsets) < _MOST_EARLY
                    yield Task(partial(self._learn, site, number, url, html, is_early), number)

        for failure, early in run_in_order(tasks(), self._workers):
            url = urls.popleft()
            for key, result in early:
                self._offsets[key] = self._spool.seek(0, os.SEEK_END)
                pickle.dump(result, self._spool)
            if failure:
                self._stats.unlearned += 1
                self._failed.add(hash64(url))
                failure.log()
                self._stats.name(failure)
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

    def _learn(
        self, site: str, number: int, url: str, html: str | bytes, is_early: bool, worker: Caller
    ) -> tuple[PageFailure | None, list[tuple[int, BatchResult]]]:
        """Learn a page; return its failure and, after the last one of a site, results by the keys of pages."""
        key = hash((url, html))
        arguments = site, url, html, key if is_early else None
        try:
            learned = worker.call(BatchWorker.learn, *arguments)
        except WorkerDiedError as error:
            self._deadly[key] = str(error)
            learned = Learned(failure=PageFailure.of(without_lone_surrogates(url), LEARNED, error))
        else:
            self._remember(number, arguments, worker)
        self._readable[site] += learned.is_readable
        self._left[site] -= 1
        if learned.is_kept:
            self._kept[site].append(key)
        is_last = not self._left[site]
        return learned.failure, self._judge_parsed(site, worker) if is_last else []

    def _remember(self, number: int, arguments: tuple[Any, ...], worker: Caller) -> None:
        """Have the next process of a worker learn the page, until what this one knows is saved."""
        if isinstance(worker, Worker):
            worker.on_start.append((BatchWorker.learn, arguments))
            self._unsaved_bytes[number] += len(arguments[2])
            if len(worker.on_start) >= _MAX_UNSAVED_PAGES or self._unsaved_bytes[number] >= _MAX_UNSAVED_BYTES:
                self._save(number, worker)

    def _judge_parsed(self, site: str, worker: Caller) -> list[tuple[int, BatchResult]]:
        results, short = [], self._short(site)
        for key in self._kept.pop(site, ()):
            try:
                result = worker.call(BatchWorker.judge_parsed, key, short)
            except WorkerDiedError as error:
                self._deadly[key] = str(error)
                break
            if result is not None:
                results.append((key, result))
        return results

    def _save(self, number: int, worker: Caller) -> None:
        worker.call(BatchWorker.save)
        worker.on_start.clear()
        self._unsaved_bytes[number] = 0

    def _judging(self, url: str, html: str | bytes) -> Task:
        key = hash((url, html))
        if (offset := self._offsets.get(key)) is not None:
            self._spool.seek(offset)
            result = pickle.load(self._spool)  # noqa: S301 - a file of our own, without a name
            return Task(lambda _: result)
        site, number = self._place(url)
        return Task(partial(self._judge, site, url, html, self._deadly.get(key)), number, may_move=True)

    def _short(self, site: str) -> str | None:
        """Return what becomes of the pages of a site if it has too few, None if it has enough."""
        cleaning = self._job.cleaning
        is_warm = not cleaning.choice.learns or self._readable[site] >= cleaning.warmup_pages
        return None if is_warm else cleaning.short_sites

    def _judge(self, site: str, url: str, html: str | bytes, died: str | None, worker: Caller) -> BatchResult:
        try:
            if died is not None:
                raise WorkerDiedError(died)
            return worker.call(BatchWorker.judge, site, url, html, self._short(site))
        except WorkerDiedError as error:
            failure = PageFailure.of(without_lone_surrogates(url), CLEANED, error)
            return failed_result(site, html, failure)
