"""Cleaning many pages on all cores: each site is learned from all of its pages, then these are judged."""

from __future__ import annotations

import os
import pickle
from collections import Counter, deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from denoise_crawler.batch.worker import BatchResult, BatchWorker, Job
from denoise_crawler.denoiser import PLAIN_TEXT, SITES_IN_MEMORY, Cleaning
from denoise_crawler.errors import BatchError, WorkerError
from denoise_crawler.methods import DEFAULT_METHOD, MethodChoice
from denoise_crawler.page.site import site_of
from denoise_crawler.rules import NO_RULES, SiteRules
from denoise_crawler.workers import Task, running, worker_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from denoise_crawler.output.clean_page import PageFailure
    from denoise_crawler.output.writing import Writing
    from denoise_crawler.workers.pool import Run

    Pages = Iterable[tuple[str, str | bytes]]
    Batch = list[tuple[str, str | bytes]]

__all__ = ["BatchError", "BatchResult", "Job", "Tally", "clean_as", "clean_pages", "cores"]

_MAX_BATCH_PAGES = 64
_MAX_BATCH_BYTES = 1 << 20
_MAX_EXAMPLES = 3


@dataclass
class Tally:
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
    tally: Tally | None = None,
) -> Iterator[BatchResult]:
    """Learn each site from all of its pages, then clean the pages, on all cores.

    A page on which we raise comes out without text; its ``error`` names the exception, and one line of the log has
    the traceback. Processes are spawned, so a script must call this
    under ``if __name__ == "__main__"``.

    Args:
        pages: Returns (url, html) pairs. It is called twice for a method that learns.
        method: The name of the method, or a choice of one with its options.
        workers: The number of processes; one per core if not given. With 1 all is done in this process. The
            result is the same for every number.
        render: One of :data:`~denoise_crawler.output.writing.RENDERINGS`, to get each page rendered as well.
        site: Returns the site of a URL.
        warmup_pages: A page is warm if its site has this many readable pages.
        short_sites: What becomes of other pages, as the setting DENOISE_SHORT_SITES says: clean, raw or drop.
        sites_in_memory: How many sites each process keeps in memory; the others lie in a temporary folder.
        writing: How the text is written.
        rules: Site rules, or the folder where they lie.
        tally: Sums to keep up to date.

    Returns:
        An iterator over the results, in the order of the pages.

    Raises:
        MethodError: The method or an option is unknown.
        RulesError: The folder of rules cannot be read.
        ValueError: Another argument is wrong.
        BatchError: While iterating: a process died, or the disk is full.

    Example:
        >>> pages = [("https://example.com/1", "<nav><a href=/>Home</a></nav><p>A story.</p>")]
        >>> [result.page.text for result in clean_pages(lambda: pages, "link_ratio", workers=1)]
        ['A story.']

    """
    known_rules = SiteRules.of_folder(rules)
    cleaning = Cleaning(MethodChoice.of(method), writing, known_rules, warmup_pages, short_sites, sites_in_memory)
    job = Job(cleaning, render, site, cores() if workers is None else workers)
    return clean_as(job, pages, Tally() if tally is None else tally)


def clean_as(job: Job, pages: Callable[[], Pages], tally: Tally) -> Iterator[BatchResult]:
    """Do what :func:`clean_pages` says, its other arguments in a record."""
    if job.workers > 1:
        _check_picklable(job)
    return _clean_all(pages, job, tally)


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_picklable(job: Job) -> None:
    try:
        pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        why = f"this cannot be given to another process: {error}"
        raise ValueError(f"{why}. Use functions that can be imported, or one worker.") from None


def _clean_all(pages: Callable[[], Pages], job: Job, tally: Tally) -> Iterator[BatchResult]:
    with TemporaryDirectory(prefix="denoise-") as folder, _workers(job, folder) as run:
        if job.cleaning.choice.learns:
            _learn_sites(pages(), run, job.workers, tally)
        for result in _judge_pages(pages(), run, job.workers):
            tally.add(result)
            if result.failure and not result.logged:
                result.failure.log()
            yield result


@contextmanager
def _workers(job: Job, folder: str) -> Iterator[Run]:
    """Yield a function that runs tasks and yields their results in order."""
    try:
        with running(partial(BatchWorker, job, folder), job.workers, BatchWorker.close) as run:
            yield run
    except WorkerError as error:
        about = f"; it had {error.about} in hand" if error.about else ""
        raise BatchError(f"a worker process failed: {error}{about}") from None


def _learn_sites(pages: Pages, run: Run, count: int, tally: Tally) -> None:
    """Learn all pages, then merge what the processes learned of each site."""
    found: Counter[str] = Counter()
    for learned in run(task for tasks in _tasks(BatchWorker.learn, pages, count) for task, _ in tasks):
        found.update(learned.pages)
        tally.unlearned += len(learned.failed)
        for failure in learned.failed:
            failure.log()
            tally.name(failure)
    homes: list[dict[str, int]] = [{} for _ in range(count)]
    for site, known in found.items():
        homes[worker_number(site, count)][site] = known
    list(run(Task(BatchWorker.settle, (), home) for home in range(count)))
    list(run(Task(BatchWorker.merge, (sites,), home) for home, sites in enumerate(homes)))


def _judge_pages(pages: Pages, run: Run, count: int) -> Iterator[BatchResult]:
    """Judge all pages, each in the process that may hold it parsed, and yield the results in their order."""
    places: deque[list[list[int]]] = deque()  # of each batch under way

    def tasks() -> Iterator[Task]:
        for parts in _tasks(BatchWorker.judge, pages, count):
            places.append([its_places for _, its_places in parts])
            yield from (task for task, _ in parts)

    done: list[tuple[int, BatchResult]] = []
    finished = 0
    for results in run(tasks()):
        done += zip(places[0][finished], results, strict=True)
        finished += 1
        if finished == len(places[0]):
            yield from (result for _, result in sorted(done, key=itemgetter(0)))
            places.popleft()
            done, finished = [], 0


def _tasks(work: Callable[..., Any], pages: Pages, count: int) -> Iterator[list[tuple[Task, list[int]]]]:
    """Yield the tasks of each batch of pages, with the places of their pages in it.

    All pages of a URL go to one process, in order: the first of them is learned.
    """
    for batch in batches_of(pages, count):
        places: dict[int, list[int]] = {}
        for place, (url, _) in enumerate(batch):
            places.setdefault(worker_number(url, count), []).append(place)
        parts = [(home, [batch[place] for place in its_places]) for home, its_places in places.items()]
        yield [(Task(work, (part,), home, _describe_batch(part)), places[home]) for home, part in parts]


def batches_of(pages: Pages, count: int = 1) -> Iterator[Batch]:
    """Yield pages in batches, each large enough for ``count`` processes."""
    batch: Batch = []
    size = 0
    for page in pages:
        batch.append(page)
        size += len(page[1])
        if len(batch) >= _MAX_BATCH_PAGES * count or size >= _MAX_BATCH_BYTES * count:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _describe_batch(batch: Batch) -> str:
    return f"{len(batch)} pages, from {batch[0][0]} to {batch[-1][0]},"
