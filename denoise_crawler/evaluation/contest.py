"""Contenders side by side on gold sets: each runs over every page exactly once."""

from __future__ import annotations

import platform
from contextlib import closing
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from denoise_crawler.evaluation.contender_process import Answer, Cost, Missing, Task, run_all
from denoise_crawler.evaluation.contenders import Contender, Failure, lxml_parse
from denoise_crawler.evaluation.gold import addresses, half
from denoise_crawler.evaluation.measures import score, score_by_characters
from denoise_crawler.evaluation.page_file import Place, encoded, write_page
from denoise_crawler.evaluation.results import Evaluation, PageInfo, PageResult, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import IO

    from denoise_crawler.evaluation.contender_process import Message, Site
    from denoise_crawler.evaluation.gold import GoldPage


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pages to take: of one language, of one half of the sites, of sites with enough pages.

    What is left out does not exist: no site is learned from it, and ``sites_with`` counts what the others left.
    """

    language: str | None = None
    half: int | None = None
    sites_with: int = 1

    def takes(self, page: GoldPage) -> bool:
        """Tell whether ``page`` is taken if its site has enough pages."""
        return self.language in (None, page.language) and self.half in (None, half(page.site))


@dataclass(slots=True)
class _Stored:
    """A page whose HTML lies in the file."""

    set: str
    page: GoldPage
    place: Place


def evaluate(
    sets: Mapping[str, Iterable[GoldPage]],
    contenders: Sequence[Contender],
    *,
    selection: Selection | None = None,
    workers: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> Evaluation:
    """Run ``contenders`` over the pages of ``sets``, by name, and score what they give.

    Each contender has a process of its own; ``workers`` of them run at a time, and times are best compared with
    one. ``progress`` is called with a contender's name, the pages it has done and those it has to do. A page
    without gold text is learned and timed, not scored. Like all that starts processes, call it in a script
    below ``if __name__ == "__main__"``.
    """
    with TemporaryDirectory(prefix="denoise_crawler-") as folder:
        file = Path(folder) / "pages"
        with file.open("wb") as writing:
            stored = _stored(sets, selection or Selection(), writing)
        everyone = [lxml_parse(), *contenders]
        boards = [_Board(contender, stored) for contender in everyone]
        with closing(run_all(everyone, file, _tasks(stored), workers)) as messages:
            for number, message in messages:
                boards[number].receive(message)
                if progress is not None and isinstance(message, Answer):
                    progress(everyone[number].name, boards[number].answered, len(stored))
    parse, *others = boards
    return Evaluation(
        python=platform.python_version(),
        platform=platform.platform(),
        pages=[_info(page) for page in stored],
        parse=parse.result(),
        results=[board.result() for board in others if board.missing is None],
        missing={board.contender.name: board.missing for board in others if board.missing is not None},
    )


def _stored(sets: Mapping[str, Iterable[GoldPage]], selection: Selection, file: IO[bytes]) -> list[_Stored]:
    """Write the selected pages to ``file``; return them in the order of the sets, those of a site together."""
    sites: dict[tuple[str, str], list[_Stored]] = {}
    for name, pages in sets.items():
        for page in filter(selection.takes, pages):
            place = write_page(file, page.html)
            bare = msgspec.structs.replace(page, html="")
            sites.setdefault((name, page.site), []).append(_Stored(name, bare, place))
    return [page for found in sites.values() if len(found) >= selection.sites_with for page in found]


def _tasks(stored: Sequence[_Stored]) -> list[Site]:
    sites: dict[tuple[str, str], list[int]] = {}
    for number, found in enumerate(stored):
        sites.setdefault((found.set, found.page.site), []).append(number)
    tasks: list[Site] = []
    for numbers in sites.values():
        urls = addresses([stored[number].page for number in numbers])
        tasks.append(
            [
                Task(number, stored[number].set, url, stored[number].page.language, stored[number].place)
                for number, url in zip(numbers, urls, strict=True)
            ]
        )
    return tasks


def _info(stored: _Stored) -> PageInfo:
    page = stored.page
    return PageInfo(
        stored.set, page.site, page.id, page.language, stored.place.size, page.gold is not None, page.page_type
    )


@dataclass(slots=True)
class _Board:
    """What has come from one contender so far."""

    contender: Contender
    stored: Sequence[_Stored]
    pages: dict[int, PageResult] = field(default_factory=dict)
    cost: Cost = field(default_factory=lambda: Cost({}, None))
    missing: str | None = None

    @property
    def answered(self) -> int:
        return len(self.pages)

    def receive(self, message: Message) -> None:
        if isinstance(message, Answer):
            self.pages[message.number] = _scored(message.text, self.stored[message.number].page.gold)
        elif isinstance(message, Missing):
            self.missing = f"{message.why}; {self.contender.install}" if self.contender.install else message.why
        elif isinstance(message, Cost):
            self.cost = message

    def result(self) -> Result:
        gone = Failure("the process of the contender ended")
        return Result(
            contender=self.contender.name,
            call=self.contender.call,
            versions={name: _version(name) for name in self.contender.packages},
            seconds=self.cost.seconds,
            peak_bytes=self.cost.peak_bytes,
            pages=[
                self.pages.get(number) or _scored(gone, found.page.gold)
                for number, found in enumerate(self.stored)
            ],
        )


def _scored(text: str | Failure, gold: str | None) -> PageResult:
    given = "" if isinstance(text, Failure) else text
    return PageResult(
        words=None if gold is None else score(given, gold),
        characters=None if gold is None else score_by_characters(given, gold),
        text_bytes=len(encoded(given)),
        failure=text.why if isinstance(text, Failure) else None,
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
