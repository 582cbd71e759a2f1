"""The figures of a report: of a page, of a site, of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from denoise_crawler.output.characters import noise_ratio

if TYPE_CHECKING:
    from denoise_crawler.report.learning_curve import LearningCurve


@dataclass(slots=True)
class Sizes:
    """Bytes of HTML and of clean text; visible characters (without white space) and those kept."""

    html_bytes: int = 0
    visible: int = 0
    kept: int = 0
    text_bytes: int = 0

    def add(self, other: Sizes) -> None:
        """Add the sizes of another page or site."""
        self.html_bytes += other.html_bytes
        self.visible += other.visible
        self.kept += other.kept
        self.text_bytes += other.text_bytes

    @property
    def noise_share(self) -> float | None:
        """The share of the visible characters that was removed (0-1); None if there are none."""
        return noise_ratio(self.visible, self.kept) if self.visible else None


@dataclass(slots=True)
class PageFigures:
    """One judged page: ``file`` is its page in the report, if any, ``lines`` are hashes of its clean lines."""

    url: str
    title: str
    sizes: Sizes
    skipped: str | None = None
    guarded: bool = False
    error: str | None = None
    file: str | None = None
    confidence: float | None = None
    page_type: str | None = None
    language: str | None = None
    date: str | None = None
    lines: list[int] = field(default_factory=list)


@dataclass(slots=True)
class SiteFigures:
    """One site; ``pages_seen``, ``ready``, ``known_by`` and ``waiting`` come from the store of a crawl."""

    name: str
    folder: str
    detailed: bool = True
    pages: int = 0
    failed: int = 0
    guarded: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    sizes: Sizes = field(default_factory=Sizes)
    shown: list[PageFigures] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    sure: list[float] = field(default_factory=list)
    curve: LearningCurve | None = None
    tree_nodes: int = 0
    tree_note: str = ""
    pages_known: int = 0
    pages_seen: int | None = None
    ready: bool | None = None
    waiting: int = 0
    known_by: list[str] = field(default_factory=list)

    @property
    def doubt(self) -> float:
        """How unsure the method is of the site's pages: 1 less their mean confidence; 0 if it gives none."""
        return 1.0 - fmean(self.sure) if self.sure else 0.0

    @property
    def title(self) -> str:
        """The name to show; pages without a host belong to a site without a name."""
        return self.name or "(no site)"


@dataclass(frozen=True, slots=True)
class Finding:
    """A page and why it is worth a look; the higher its ``weight`` (0 to 1), the sooner."""

    site: SiteFigures
    page: PageFigures
    kind: str
    why: str
    weight: float


@dataclass(slots=True)
class RunFigures:
    """One report: its sources, its method and its sites."""

    sources: list[str]
    method: str
    made: str
    version: str
    sites: list[SiteFigures] = field(default_factory=list)
    worth_a_look: list[Finding] = field(default_factory=list)

    @property
    def sizes(self) -> Sizes:
        """The sizes of all pages."""
        total = Sizes()
        for site in self.sites:
            total.add(site.sizes)
        return total

    @property
    def pages(self) -> int:
        """The number of pages judged."""
        return sum(site.pages for site in self.sites)
