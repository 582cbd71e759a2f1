"""The figures of a report: of a page, a site, a run; what is worth a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib.metadata import version
from statistics import fmean, median

from denoise_crawler.output.clean_text import noise_ratio
from denoise_crawler.page.text import counted


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
    doubts: list[str] = field(default_factory=list)
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
    sure: list[float] = field(default_factory=list)
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

    @classmethod
    def begun(cls, sources: list[str], method: str) -> RunFigures:
        """Return the figures of a report that is made now, by this release."""
        made = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        return cls(sources, method, made, version("denoise-crawler"))

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


MAX_FINDINGS, MAX_OF_A_KIND = 40, 8
_MIN_PAGES = 4  # of a site that its pages can be unlike
_UNSURE = 0.8
_FAR = 0.25  # from the median of the site, as a share of the visible characters
_MANY = 3  # pages that have a line


def findings(sites: Iterable[SiteFigures]) -> list[Finding]:
    """Return what is worth a look on the pages that the report shows, the worst first.

    These are at most MAX_OF_A_KIND findings of a kind, MAX_FINDINGS in all, each page once.
    """
    candidates = sorted((one for site in sites for one in _of_site(site)), key=lambda one: -one.weight)
    kinds, pages, chosen = Counter[str](), set[int](), list[Finding]()
    for one in candidates:
        if kinds[one.kind] < MAX_OF_A_KIND and id(one.page) not in pages and len(chosen) < MAX_FINDINGS:
            kinds[one.kind] += 1
            pages.add(id(one.page))
            chosen.append(one)
    return chosen


def _of_site(site: SiteFigures) -> Iterator[Finding]:
    pages = [page for page in site.shown if not page.skipped and not page.error]
    for page in site.shown:
        if page.error or page.skipped:
            yield Finding(site, page, "nothing", page.error or f"nothing to read: {page.skipped}", 1.0)
    for page in pages:
        if page.confidence is not None and page.confidence < _UNSURE:
            why = ": ".join([f"its text is about {page.confidence:.0%} right", *page.doubts[:1]])
            yield Finding(site, page, "unsure", why, 1.0 - page.confidence)
        missing = [name for name, value in (("title", page.title), ("date", page.date)) if not value]
        if missing and page.page_type == "article":
            why = f"an article without {' and '.join(missing)}"
            yield Finding(site, page, "missing", why, 0.1 * len(missing))
    if len(pages) >= _MIN_PAGES:
        yield from _unlike(site, pages)
        yield from _repeated(site, pages)


def _unlike(site: SiteFigures, pages: list[PageFigures]) -> Iterator[Finding]:
    """Yield pages whose noise, language or type is not that of their site.

    Characters are compared and not shares: a site has as much noise on a long page as on a short one.
    """
    usual = median(page.sizes.visible - page.sizes.kept for page in pages)
    for page in pages:
        removed = page.sizes.visible - page.sizes.kept
        far = abs(removed - usual) / max(1, page.sizes.visible)
        if far > _FAR:
            amount = "more" if removed > usual else "less"
            why = f"{removed:,} characters removed, much {amount} than the {usual:,.0f} of its site"
            yield Finding(site, page, f"{amount} removed", why, min(1.0, far))
    for name, what in (("language", "language"), ("page_type", "type")):
        values = Counter(getattr(page, name) for page in pages)
        common, often = values.most_common(1)[0]
        for page in pages if often * 4 >= len(pages) * 3 else ():
            if (value := getattr(page, name)) not in (common, None, ""):
                why = f"its {what} is {value}, that of the other pages {common}"
                yield Finding(site, page, what, why, 0.3)


def _repeated(site: SiteFigures, pages: list[PageFigures]) -> Iterator[Finding]:
    """Yield the page with most lines of text that stay on many pages of the site."""
    on = Counter(line for page in pages for line in set(page.lines))
    many = max(_MANY, len(pages) // 3)
    for page in pages:
        if lines := {line for line in page.lines if on[line] >= many}:
            most = max(on[line] for line in lines)
            why = f"{counted(len(lines), 'line')} of its text also on other pages, one on {most} of {len(pages)}"
            yield Finding(site, page, "repeated", why, min(1.0, 0.2 + len(lines) / max(1, len(page.lines))))
