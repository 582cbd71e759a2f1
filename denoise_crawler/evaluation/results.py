"""The results of an evaluation by page, and their means over groups of pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from denoise_crawler.evaluation.gold import REPORTING, TUNING, Broken, half
from denoise_crawler.evaluation.measures import Score, grade_shares, mean

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


def worst(evaluation: Evaluation, result: Result, name: str, count: int) -> list[int]:
    """Return the numbers of the pages of a set with the lowest F1 by words, the lowest first."""
    found = ((number, result.pages[number].words) for number in whole(evaluation, name).pages)
    f1s = {number: words.f1 for number, words in found if words is not None}
    return sorted(f1s, key=lambda number: f1s[number])[:count]
