"""Runs the project ``all_kinds`` with us and without us, a process for each crawl, and reads what it wrote."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tests.guests.endings import Run
from tests.loopback import Served
from tests.scrapy_process import ScrapyProcess

PROJECT = Path(__file__).parent / "all_kinds"
_LONGEST = 120


@dataclass(frozen=True)
class Mode:
    """A way to have us in a crawl: the settings, and whether the items must carry their HTML for it."""

    settings: dict[str, Any]
    html: bool = False


PIPELINES = {"denoise_crawler.pipelines.StyleTreePipeline": 100, "denoise_crawler.pipelines.DenoisePipeline": 200}
MODES = {
    "add-on": Mode({"ADDONS": {"denoise_crawler.Addon": 300}}),
    "pipelines": Mode({"ITEM_PIPELINES": PIPELINES}, html=True),
}


class Key(NamedTuple):
    """What tells an item from all others."""

    kind: str
    page: str
    number: int


@dataclass
class Recorded:
    """What a crawl wrote down of itself."""

    code: int = 0
    log: str = ""
    events: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))

    def items(self, event: str) -> list[Key]:
        """Return the items to which ``event`` happened, in order."""
        return [key_of(each) for each in self.events[event]]

    def pages(self, event: str) -> set[str]:
        """Return the pages to which ``event`` happened."""
        return {each["page"] for each in self.events[event]}

    @property
    def stats(self) -> dict[str, str]:
        """Return the stats of a crawl that could still say goodbye."""
        return self.events["stats"][0]["stats"] if self.events["stats"] else {}


def key_of(event: dict[str, Any]) -> Key:
    """Return the item of an event."""
    return Key(event["kind"], event["page"], event["number"])


@dataclass
class Crawls:
    """The project in a folder of its own, against the hosts that serve its pages."""

    folder: Path
    hosts: list[Served]
    runs: int = 0

    def __post_init__(self) -> None:
        shutil.copytree(PROJECT, self.folder, ignore=shutil.ignore_patterns("__pycache__"))

    def url(self, page: str) -> str:
        """Return the address of a page that is named as HOST/PATH."""
        host, _, path = page.partition("/")
        return f"{self.hosts[int(host)].url}/{path}"

    def run(self, run: Run, mode: Mode, **more: Any) -> Recorded:
        """Run a crawl to its end, whatever that is; ``more`` are further settings."""
        self.runs += 1
        record, log = self.folder / f"record-{self.runs}.jsonl", self.folder / f"crawl-{self.runs}.log"
        order = {
            "urls": [self.url(page) for page in run.pages],
            "html": mode.html,
            "record": record.name,
            "rows": f"rows-{self.runs}.sqlite",
            "settings": {**run.settings, "ENDING": run.ending, **mode.settings, **more},
        }
        (self.folder / "order.json").write_text(json.dumps(order))
        process = ScrapyProcess(self.folder, out=log, passing=True, script="crawl.py")
        code = process.wait(_LONGEST)
        recorded = Recorded(code, log.read_text(errors="replace"))
        for line in record.read_text().splitlines() if record.exists() else ():
            event = json.loads(line)
            recorded.events[event["event"]].append(event)
        return recorded

    def files(self) -> dict[str, str]:
        """Return what the pipeline of images has stored: names and what is in them."""
        stored = self.folder / "files"
        return {
            str(path.relative_to(stored)): sha256(path.read_bytes()).hexdigest()
            for path in sorted(stored.rglob("*"))
            if path.is_file()
        }


def count_by_kind(kinds: Iterable[Key]) -> list[str]:
    """Return items as a test's message shows them: how many of each kind."""
    counted: dict[str, int] = defaultdict(int)
    for each in kinds:
        counted[each.kind] += 1
    return [f"{number} x {kind}" for kind, number in sorted(counted.items())]
