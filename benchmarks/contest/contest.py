"""Runs contenders over gold sets, each over every page exactly once."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import msgspec

from benchmarks.contest.contenders import (
    Contender,
    ContenderProcess,
    Failure,
    Place,
    StoredPage,
    lxml_parse,
    to_utf8,
    write_page,
)
from denoise_crawler.batch.process_pool import Worker
from denoise_crawler.errors import WorkerError
from denoise_crawler.evaluation import (
    REPORTING,
    TUNING,
    Broken,
    GoldPage,
    Score,
    addresses,
    grade_shares,
    half,
    mean,
    score,
    score_by_characters,
)

# --- the results of an evaluation by page, and their means over groups of pages

SIZES = (5, 10)


class PageInfo(msgspec.Struct, frozen=True):
    """An evaluated page; ``html_bytes`` in UTF-8."""

    set: str
    site: str
    id: str
    language: str | None
    html_bytes: int
    has_gold: bool
    page_type: str | None = None


class PageResult(msgspec.Struct, frozen=True):
    """The result of one contender on one page: scores if there is gold text, bytes of text in UTF-8.

    ``failure`` says why there is no text; the page is then scored as empty text.
    """

    words: Score | None
    characters: Score | None
    text_bytes: int
    failure: str | None = None


class Result(msgspec.Struct):
    """The results of one contender: ``pages`` in the order of :attr:`Evaluation.pages`.

    ``seconds`` are CPU seconds by set, ``peak_bytes`` is the peak memory of its process.
    """

    contender: str
    call: str
    versions: dict[str, str]
    seconds: dict[str, float]
    peak_bytes: int | None
    pages: list[PageResult]


class Evaluation(msgspec.Struct):
    """The results of all contenders; ``parse`` is lxml's parse alone, ``missing`` says who is left out and why."""

    python: str
    platform: str
    pages: list[PageInfo]
    parse: Result
    results: list[Result]
    missing: dict[str, str] = {}
    broken: list[Broken] = []

    @property
    def sets(self) -> list[str]:
        """The names of the sets, in order."""
        return list(dict.fromkeys(page.set for page in self.pages))


class Group(msgspec.Struct, frozen=True):
    """Some pages of a set, by their numbers."""

    set: str
    label: str
    pages: list[int]


class Summary(msgspec.Struct, frozen=True):
    """The figures of one contender on some pages; means are over the ``scored`` pages, with equal weight."""

    pages: int
    scored: int
    words: Score
    characters: Score
    grades: tuple[float, ...]
    html_bytes: int
    text_bytes: int
    failed: int

    @property
    def kept(self) -> float:
        """The bytes of text as a share of the bytes of HTML; 0 without HTML."""
        return self.text_bytes / self.html_bytes if self.html_bytes else 0.0


def summarize(evaluation: Evaluation, result: Result, group: Group) -> Summary:
    """Return the figures of ``result`` on the pages of ``group``."""
    pages = [result.pages[number] for number in group.pages]
    words = [page.words for page in pages if page.words is not None]
    return Summary(
        pages=len(pages),
        scored=len(words),
        words=mean(words),
        characters=mean(page.characters for page in pages if page.characters is not None),
        grades=grade_shares([score.f1 for score in words]),
        html_bytes=sum(evaluation.pages[number].html_bytes for number in group.pages),
        text_bytes=sum(page.text_bytes for page in pages),
        failed=sum(page.failure is not None for page in pages),
    )


def groups_of(evaluation: Evaluation, *, halves: bool = False) -> list[Group]:
    """Return the groups of each set: all pages, then by language, by type and by number of pages of their site.

    A group without pages, or with all pages of a set, is left out. ``halves`` adds groups of each half of
    the sites.
    """
    groups = []
    for name in evaluation.sets:
        everything = whole(evaluation, name)
        parts = [Group(name, label, pages) for label, pages in _parts(evaluation, everything, halves)]
        groups += [everything, *(part for part in parts if 0 < len(part.pages) < len(everything.pages))]
    return groups


def whole(evaluation: Evaluation, name: str) -> Group:
    """Return all pages of a set."""
    return Group(name, "all", [number for number, page in enumerate(evaluation.pages) if page.set == name])


def sites_of(evaluation: Evaluation, name: str) -> list[Group]:
    """Return the sites of a set, those with the most pages first."""
    sites: dict[str, list[int]] = {}
    for number in whole(evaluation, name).pages:
        sites.setdefault(evaluation.pages[number].site, []).append(number)
    return [Group(name, site, numbers) for site, numbers in sorted(sites.items(), key=lambda pair: -len(pair[1]))]


def _parts(evaluation: Evaluation, everything: Group, halves: bool) -> Iterator[tuple[str, list[int]]]:
    """Yield the label and the pages of each group."""
    pages = [(number, evaluation.pages[number]) for number in everything.pages]
    sizes = Counter(page.site for _, page in pages)
    for language, _ in Counter(page.language for _, page in pages).most_common():
        yield language or "language unknown", [number for number, page in pages if page.language == language]
    for kind, _ in Counter(page.page_type for _, page in pages if page.page_type).most_common():
        yield str(kind), [number for number, page in pages if page.page_type == kind]
    for size in SIZES:
        yield f"sites ≥ {size}", [number for number, page in pages if sizes[page.site] >= size]
    if halves:
        yield "tuning half", [number for number, page in pages if half(page.site) == TUNING]
        reporting = [(number, page) for number, page in pages if half(page.site) == REPORTING]
        yield "reporting half", [number for number, _ in reporting]
        for size in SIZES:
            large = [number for number, page in reporting if sizes[page.site] >= size]
            yield f"reporting half, sites ≥ {size}", large


Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pages to evaluate: of one language, of one half of the sites, of sites with enough pages.

    Sites are not learned from other pages. ``sites_with`` counts the pages that the other criteria select.
    """

    language: str | None = None
    half: int | None = None
    sites_with: int = 1

    def takes(self, page: GoldPage) -> bool:
        """Tell whether ``page`` is selected, if its site has enough pages."""
        return self.language in (None, page.language) and self.half in (None, half(page.site))


@dataclass(slots=True)
class _Stored:
    """A page whose HTML is in the file."""

    set: str
    page: GoldPage
    place: Place


@dataclass(slots=True)
class _Site:
    """The pages of one site of a set, with their numbers among all pages."""

    set: str
    numbers: range
    pages: list[StoredPage]


def evaluate(
    sets: Mapping[str, Iterable[GoldPage]],
    contenders: Sequence[Contender],
    *,
    selection: Selection | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Run contenders over gold sets and score their texts.

    A page without gold text is learned and timed, but not scored. Processes are spawned, so a script must
    call this under ``if __name__ == "__main__"``.

    Args:
        sets: The pages of each set, by its name.
        contenders: The contenders, each of which gets its own process.
        selection: Which pages to evaluate; all if not given.
        workers: How many contenders run at a time. Times are best compared with one.
        progress: Called with a contender's name, the number of pages done and of all pages.

    Returns:
        The scores and costs.

    """
    with TemporaryDirectory(prefix="denoise_crawler-") as folder:
        file = Path(folder) / "pages"
        with file.open("wb") as writing:
            stored = _store_pages(sets, selection or Selection(), writing)
        boards = [_Scoreboard(contender, stored) for contender in (lxml_parse(), *contenders)]
        sites = _group_by_site(stored)
        with ThreadPoolExecutor(workers) as threads, ExitStack() as opened:
            makes = (partial(ContenderProcess, board.contender, file) for board in boards)
            processes = [opened.enter_context(Worker(make)) for make in makes]
            list(threads.map(partial(_run_contender, sites=sites, progress=progress), boards, processes))
    parse, *others = boards
    return Evaluation(
        python=platform.python_version(),
        platform=platform.platform(),
        pages=[_info(page) for page in stored],
        parse=parse.result(),
        results=[board.result() for board in others if board.missing is None],
        missing={board.contender.name: board.missing for board in others if board.missing is not None},
    )


def _store_pages(sets: Mapping[str, Iterable[GoldPage]], selection: Selection, file: IO[bytes]) -> list[_Stored]:
    """Write the selected pages to ``file``; return them by set and site."""
    sites: dict[tuple[str, str], list[_Stored]] = {}
    for name, pages in sets.items():
        for page in filter(selection.takes, pages):
            place = write_page(file, page.html)
            bare = msgspec.structs.replace(page, html="")
            sites.setdefault((name, page.site), []).append(_Stored(name, bare, place))
    return [page for pages in sites.values() if len(pages) >= selection.sites_with for page in pages]


def _group_by_site(stored: Sequence[_Stored]) -> list[_Site]:
    sites: list[_Site] = []
    first = 0
    for (name, _), group in groupby(stored, key=lambda one: (one.set, one.page.site)):
        stored = list(group)
        urls = addresses([one.page for one in stored])
        pages = [StoredPage(url, one.place, one.page.language) for url, one in zip(urls, stored, strict=True)]
        sites.append(_Site(name, range(first, first := first + len(stored)), pages))
    return sites


def _run_contender(
    board: _Scoreboard, worker: Worker[ContenderProcess], sites: Sequence[_Site], progress: Progress | None
) -> None:
    """Run a contender over all sites; if its process dies, only the pages of that site fail."""
    if board.is_left_out(worker):
        return
    for site in sites:
        board.add(site, worker)
        if progress is not None:
            for done in range(site.numbers.start, site.numbers.stop):
                progress(board.contender.name, done + 1, len(board.stored))
    worker.close()


def _info(stored: _Stored) -> PageInfo:
    page = stored.page
    size, has_gold = stored.place.size, page.gold is not None
    return PageInfo(stored.set, page.site, page.id, page.language, size, has_gold, page.page_type)


@dataclass(slots=True)
class _Scoreboard:
    """The results of one contender so far."""

    contender: Contender
    stored: Sequence[_Stored]
    pages: list[PageResult] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    peak_bytes: int | None = None
    has_died: bool = False
    missing: str | None = None

    def is_left_out(self, worker: Worker[ContenderProcess]) -> bool:
        try:
            why = worker.call(ContenderProcess.why_missing)
        except WorkerError as error:
            why = str(error)
        if why is not None:
            self.missing = f"{why}; {self.contender.install}" if self.contender.install else why
        return why is not None

    def add(self, site: _Site, worker: Worker[ContenderProcess]) -> None:
        texts: Sequence[str | Failure]
        try:
            texts, seconds, self.peak_bytes = worker.call(ContenderProcess.texts, site.pages)
            self.seconds[site.set] = self.seconds.get(site.set, 0.0) + seconds
        except WorkerError as error:
            texts, self.has_died = [Failure(str(error))] * len(site.pages), True
        for number, text in zip(site.numbers, texts, strict=True):
            self.pages.append(_score_page(text, self.stored[number].page.gold))

    def result(self) -> Result:
        return Result(
            contender=self.contender.name,
            call=self.contender.call,
            versions={name: _version(name) for name in self.contender.packages},
            seconds={} if self.has_died else self.seconds,  # the cost of a dead process is unknown
            peak_bytes=None if self.has_died else self.peak_bytes,
            pages=self.pages,
        )


def _score_page(text: str | Failure, gold: str | None) -> PageResult:
    given = "" if isinstance(text, Failure) else text
    return PageResult(
        words=None if gold is None else score(given, gold),
        characters=None if gold is None else score_by_characters(given, gold),
        text_bytes=len(to_utf8(given)),
        failure=text.why if isinstance(text, Failure) else None,
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
