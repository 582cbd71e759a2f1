"""What differs between a crawl with us and the same crawl without us. Each list is empty where nothing does."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.guests.crawls import Key, Recorded, count_by_kind, key_of
from tests.guests.endings import Ending
from tests.guests.site import story


@dataclass
class Difference:
    """All that went otherwise than without us; items are told as "NUMBER x KIND"."""

    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    failed_in_a_pipeline: list[str] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)
    without_text: list[str] = field(default_factory=list)
    with_the_text_of_another_page: list[str] = field(default_factory=list)
    without_their_files: list[str] = field(default_factory=list)
    files_missing: int = 0
    files_changed: int = 0
    with_the_response_of_another_page: list[str] = field(default_factory=list)
    seen_otherwise_by_middlewares: list[str] = field(default_factory=list)
    code: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def describe(self) -> str:
        """Return what differs, a line each."""
        return "\n".join(f"{name}: {value}" for name, value in asdict(self).items() if value)


def _rows(numbers: Iterable[int]) -> int:
    """Return of how many rising rows, one between the other, ``numbers`` can be made."""
    ends: list[int] = []
    for number in numbers:
        fitting = [index for index, end in enumerate(ends) if end < number]
        if fitting:
            ends[max(fitting, key=ends.__getitem__)] = number
        else:
            ends.append(number)
    return len(ends)


class Comparison:
    """Compares runs of a crawl that ended in some way with one crawl of all pages without us."""

    def __init__(self, without: Recorded, files: dict[str, str]) -> None:
        self.without = without
        self.files = files
        self.known = {key_of(event): event for event in without.events["scraped"]}
        self.of_page: dict[str, list[Key]] = defaultdict(list)
        for key in sorted(self.known, key=lambda key: key.number):
            self.of_page[key.page].append(key)

    def difference(self, ending: Ending, runs: list[Recorded], files: dict[str, str]) -> Difference:
        """Return what differs."""
        found = Difference()
        self._numbers(ending, runs, found)
        self._files(runs, files, found)
        for number, run in enumerate(runs):
            goodbye = number > 0 or not ending.breaks
            self._items(run, found)
            self._order(run, found)
            if goodbye:
                self._middlewares(run, found)
                found.code += [run.code] * (run.code != 0)
                found.errors += self._errors(run)
        return found

    def _numbers(self, ending: Ending, runs: list[Recorded], found: Difference) -> None:
        """Every page whose callback ran has its items out, in its run or the next; none comes twice."""
        scraped = [Counter(run.items("scraped")) for run in runs]
        called = runs[-1].pages("yielded") if ending.complete else self._over(ending, runs)
        wanted = {key for page in called for key in self.of_page[page]}
        out = scraped[-1] if ending.complete else sum(scraped, Counter())
        found.lost = count_by_kind(wanted - set(out))
        found.unknown = count_by_kind({key for counted in scraped for key in counted} - set(self.known))
        apart = scraped if ending.repeats else [sum(scraped, Counter())]
        found.twice = count_by_kind(key for counted in apart for key, number in counted.items() if number > 1)

    @staticmethod
    def _over(ending: Ending, runs: list[Recorded]) -> set[str]:
        """Return the pages whose items must be out: of a run that broke those that had left all middlewares."""
        pages: set[str] = set()
        for number, run in enumerate(runs):
            if ending.breaks and number == 0:
                pages |= {each["page"] for each in run.events["page over"] if each["where"] == "in front"}
            else:
                pages |= run.pages("yielded")
        return pages

    def _items(self, run: Recorded, found: Difference) -> None:
        """Each item is as it is without us, but for its text; its response is that of its page."""
        changed, textless, wrong, response = [], [], [], []
        for event in run.events["scraped"]:
            key = key_of(event)
            known = self.known.get(key)
            if known is None:
                continue
            if (event["type"], event["contents"]) != (known["type"], known["contents"]):
                changed.append(key)
            if not event["text"]:
                textless.append(key)
            elif story(key.page.rpartition("/")[2])[0] not in event["text"]:
                wrong.append(key)
            if (event["response"] or {}).get("url") != key.page:
                response.append(key)
        found.changed += count_by_kind(changed)
        found.without_text += count_by_kind(textless)
        found.with_the_text_of_another_page += count_by_kind(wrong)
        found.with_the_response_of_another_page += count_by_kind(response)
        found.failed_in_a_pipeline += count_by_kind(run.items("failed"))

    @staticmethod
    def _order(run: Recorded, found: Difference) -> None:
        """Of a page's items those that wait come in their order, and those that do not in theirs."""
        arrived: dict[str, list[int]] = defaultdict(list)
        for key in run.items("arrived"):
            arrived[key.page].append(key.number)
        found.out_of_order += [f"{page}: {numbers}" for page, numbers in arrived.items() if _rows(numbers) > 2]

    def _middlewares(self, run: Recorded, found: Difference) -> None:
        """A middleware in front of us or behind us sees each item once, with the response of its page."""
        for where in ("in front", "behind"):
            seen = Counter(
                (key_of(event), event["url"]) for event in run.events["seen"] if event["where"] == where
            )
            wanted = Counter((key, page) for page in run.pages("yielded") for key in self.of_page[page])
            keys = {key for key, _ in (wanted - seen) + (seen - wanted)}
            found.seen_otherwise_by_middlewares += [f"{where}: {each}" for each in count_by_kind(keys)]

    def _files(self, runs: list[Recorded], files: dict[str, str], found: Difference) -> None:
        """No item comes without the files that it has without us, and no other file is there."""
        scraped = [key_of(event) for run in runs for event in run.events["scraped"]]
        wanted = {path for key in scraped if key in self.known for path in self._paths(self.known[key])}
        found.files_missing = len(wanted - set(files))
        found.files_changed = sum(self.files.get(name) != known for name, known in files.items())
        for run in runs:
            without = [
                key_of(event)
                for event in run.events["scraped"]
                if len(self._paths(event)) < len(self._paths(self.known.get(key_of(event), {})))
            ]
            found.without_their_files += count_by_kind(without)

    @staticmethod
    def _paths(event: dict[str, Any]) -> list[str]:
        """Return the files that an item says it has."""
        held = event.get("contents", {}).get("images", "")
        return [part.split("'")[0] for part in held.split("'path': '")[1:]]

    def _errors(self, run: Recorded) -> Iterable[str]:
        """Return the errors in the log that are not those of the spider or of our warnings."""
        lines = [line for line in run.log.splitlines() if "] ERROR" in line or "] CRITICAL" in line]
        return [line.partition("] ")[2][:200] for line in lines if "Spider error processing" not in line]
