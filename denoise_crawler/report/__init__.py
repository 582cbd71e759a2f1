"""The report, a static site: learns the sites, has their pages judged and written, then the start page."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

from denoise_crawler.batch.process_pool import Caller, Task, open_workers, run_in_order
from denoise_crawler.denoiser import Cleaned, Denoiser
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.output.safe_markup import write_below
from denoise_crawler.page import Page
from denoise_crawler.page.text import hash64
from denoise_crawler.report.explorer import SiteSample, style_tree_of, tree_data
from denoise_crawler.report.figures import PageFigures, RunFigures, SiteFigures, Sizes, findings
from denoise_crawler.report.rendering import PageView, page_view, render_page
from denoise_crawler.store import Store, StoredSite
from denoise_crawler.store.knowledge import StoredKnowledge

__all__ = ["Bounds", "Plan", "RunFigures", "write_report"]


# --- the first reading of the pages: it learns their sites and keeps a sample of each

SitedPages = Iterable[tuple[str, str, str | bytes]]  # site, url, html


@dataclass(slots=True)
class SampledSites:
    """What is known of the sites, the number of pages of each, samples of the first sites."""

    known: InMemoryKnowledge
    pages: dict[str, int] = field(default_factory=dict)
    samples: dict[str, SiteSample] = field(default_factory=dict)


def sample_sites(
    pages: SitedPages, choice: MethodChoice, *, sites: int, store: Store | None = None
) -> SampledSites:
    """Read pages, sample the first ``sites`` sites and learn those that ``store`` does not know."""
    sampled = SampledSites(InMemoryKnowledge())
    denoiser = Denoiser(choice, knowledge=sampled.known)
    stored = store.sites() if store is not None else {}
    known = {name for name, site in stored.items() if choice.key in site.known_by}
    for site, url, html in pages:
        sampled.pages[site] = sampled.pages.get(site, 0) + 1
        if site in sampled.samples or len(sampled.samples) < sites:
            sampled.samples.setdefault(site, SiteSample()).add(url, html)
        if site in known or not denoiser.learns:
            continue
        try:
            denoiser.learn(Page.parse(url, html, site=site))
        except Exception:  # noqa: S112 - judging will fail as well, and counts it
            continue
    denoiser.save()
    return sampled


_NOTHING = PageView("", [])
_MAX_TITLE_CHARACTERS = 300
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")
_MAX_LINES, _SHORT_LINE = 2_000, 15  # of a text that are compared with other pages; characters


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page stands in the report: the folder and title of its site, its position, of how many shown."""

    folder: str
    site: str
    position: int
    of: int

    def file(self, position: int) -> str | None:
        """Return the file of the page at ``position``, None if there is none."""
        return f"page-{position:03}.html" if 0 < position <= self.of else None


@dataclass(frozen=True, slots=True)
class Frame:
    """What all processes of a report know.

    Args:
        folder: The folder of the report.
        run: The run's method, version and time.
        choice: The method.
        known: The knowledge that was learned for the report, by site.
        store: The file of a crawl, which knows other sites.
        nodes: The nodes shown of a style tree.
        remote: Whether painted pages may fetch their pictures and style sheets.
    """

    folder: Path
    run: RunFigures
    choice: MethodChoice
    known: Mapping[str, bytes]
    store: Path | None
    nodes: int
    remote: bool


class SiteWriter:
    """Judges pages and writes them, and what else the report has of their sites."""

    def __init__(self, frame: Frame, _: int = 0) -> None:
        self._frame = frame
        self._store = None if frame.store is None else Store(frame.store, read_only=True)
        stored = None if self._store is None else StoredKnowledge(self._store, frame.choice)
        self._denoiser = Denoiser(frame.choice, knowledge=InMemoryKnowledge(frame.known, below=stored))

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()

    def judge(self, site: str, url: str, html: str | bytes, place: Place | None) -> PageFigures:
        """Judge a page and write it, if it has a place; return its figures."""
        size = len(html) if isinstance(html, bytes) else len(html.encode("utf-8", "replace"))
        figures, view, language = PageFigures(url, url, Sizes(html_bytes=size)), _NOTHING, None
        try:
            page = Page.parse(url, html, site=site)
            cleaned = self._denoiser.clean(page)
            _measure(figures, cleaned)
            if place is not None:
                view = page_view(cleaned, remote=self._frame.remote, known=self._known(site))
                figures.doubts, language = view.doubts, page.language
        except Exception as error:  # whatever it is, the other pages go on
            view, figures.error = _NOTHING, f"{type(error).__name__}: {error}"[:200]
        if place is not None:
            figures.file = place.file(place.position)
            self._write_page(figures, view, language, place)
        return figures

    def write_site(self, site: SiteFigures, sample: SiteSample | None) -> SiteFigures:
        """Write the tree and the page of a site; return its figures, with those of its knowledge."""
        site.pages_known = self._known(site.name) or 0
        self._write_tree(site, sample)
        self._write(f"{site.folder}/index.html", "site.html", site=site)
        return site

    def _known(self, site: str) -> int | None:
        return self._denoiser.method_for(site).pages_known if self._denoiser.learns else None

    def _write_page(self, figures: PageFigures, view: PageView, language: str | None, place: Place) -> None:
        name, known = f"{place.folder}/{figures.file}", language and _LANGUAGE.fullmatch(language)
        shown = {"page": figures, "language": language if known else None, "view": view, "place": place}
        self._write(name, "page.html", scripts=["page.js"], **shown)

    def _write_tree(self, site: SiteFigures, sample: SiteSample | None) -> None:
        sample = sample or SiteSample()
        tree, note = style_tree_of(site.name, sample, self._frame.choice, self._store)
        if tree is None:
            site.tree_note = note
            return
        files = {page.url: page for page in site.shown if not page.skipped and not page.error}
        sampled = {url: html for url, html in sample.pages() if url in files}
        pages = [Page.parse(url, html, site=site.name) for url, html in sampled.items()]
        data = tree_data(tree, pages, threshold=tree.threshold, max_nodes=self._frame.nodes)
        parsed = [files[page.url] for page in pages]
        links = [{"title": page.title or page.url, "file": page.file} for page in parsed]
        site.tree_nodes = len(data.parents)
        shown = {"site": site.title, "data": data, "pages": links, "note": note, "home": "../index.html"}
        self._write(f"{site.folder}/tree.html", "tree.html", scripts=["tree.js"], **shown)

    def _write(self, name: str, template: str, **values: Any) -> None:
        html = render_page(template, run=self._frame.run, remote=self._frame.remote, **values)
        write_below(self._frame.folder, name, html)


def _measure(figures: PageFigures, cleaned: Cleaned) -> None:
    """Fill in the figures of a page."""
    clean, sizes = cleaned.clean_page, figures.sizes
    sizes.visible, sizes.kept = cleaned.visible, cleaned.kept
    text = str(clean.text)  # blocks as JSON
    sizes.text_bytes = len(text.encode("utf-8", "replace"))
    figures.title, figures.skipped = clean.title[:_MAX_TITLE_CHARACTERS], cleaned.page.skipped
    figures.guarded, figures.confidence, figures.page_type = cleaned.guarded, clean.confidence, clean.page_type
    figures.language, figures.date = (clean.language or "").split("-")[0].lower() or None, clean.date
    # the same in each process, as hash() is not
    figures.lines = [hash64(line) for line in text.splitlines()[:_MAX_LINES] if len(line) > _SHORT_LINE]


# --- the report of all sites

_UNSAFE = re.compile(r"[^a-z0-9.-]+")
_MAX_CONFIDENCES = 2_000  # of a site


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a report shows: pages per site, sites with pages of their own, nodes per style tree."""

    pages: int = 20
    sites: int = 50
    nodes: int = 4_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The sources of a report.

    Args:
        pages: Returns (site, url, html) of all pages. It is called twice.
        choice: The method.
        bounds: How much the report shows.
        store: A store whose knowledge judges the sites that it knows. Other sites are learned from their pages.
        remote: Whether painted pages may fetch their pictures and style sheets.
        workers: The number of processes. The report is the same for every number.
    """

    pages: Callable[[], SitedPages]
    choice: MethodChoice
    bounds: Bounds = Bounds()
    store: Store | None = None
    remote: bool = False
    workers: int = 1


def write_report(folder: Path, plan: Plan, run: RunFigures) -> RunFigures:
    """Write a report into an existing folder; ``index.html`` comes last.

    A page on which the method raises shows the error only. Fills in the figures of the ``run`` and returns them.

    Raises:
        WorkerError: A worker process failed.
    """
    _Report(folder, plan, run).write()
    return run


class _Report:
    def __init__(self, folder: Path, plan: Plan, run: RunFigures) -> None:
        self.folder, self.plan, self.run = folder, plan, run
        self.sites: dict[str, SiteFigures] = {}
        self.stored: dict[str, StoredSite] = plan.store.sites() if plan.store else {}

    def write(self) -> None:
        plan = self.plan
        gathered = sample_sites(plan.pages(), plan.choice, sites=plan.bounds.sites, store=plan.store)
        for name in [*gathered.pages, *self.stored]:
            if name not in self.sites:
                self.sites[name] = self._site(name, gathered)
        store = plan.store.path if plan.store else None
        bounds, known = plan.bounds, gathered.known
        frame = Frame(self.folder, self.run, plan.choice, known, store, bounds.nodes, plan.remote)
        make = partial(SiteWriter, frame)
        with open_workers(make, plan.workers, end=SiteWriter.close) as workers:
            self._judge(gathered, workers)
            detailed = [site for site in self.sites.values() if site.detailed]
            calls = ((SiteWriter.write_site, site, gathered.samples.get(site.name)) for site in detailed)
            tasks = (Task(methodcaller("call", *call)) for call in calls)
            self.sites |= {site.name: site for site in run_in_order(tasks, workers)}
        self.run.sites = sorted(self.sites.values(), key=lambda site: (-site.doubt, -site.pages))
        self.run.worth_a_look = findings(self.run.sites)
        start = render_page("index.html", run=self.run, remote=plan.remote)
        write_below(self.folder, "index.html", start)

    def _site(self, name: str, gathered: SampledSites) -> SiteFigures:
        slug = _UNSAFE.sub("_", name.lower()).strip("._-")[:40] or "no-site"
        detailed = name in gathered.samples or len(self.sites) < self.plan.bounds.sites
        site = SiteFigures(name, f"{len(self.sites) + 1:03}-{slug}", detailed=detailed)
        if (stored := self.stored.get(name)) is not None:
            site.pages_seen = max((state.pages_seen for state in stored.states.values()), default=0)
            site.ready = any(state.ready for state in stored.states.values())
            site.waiting, site.known_by = stored.waiting, stored.known_by
        return site

    def _judge(self, gathered: SampledSites, workers: Sequence[Caller]) -> None:
        """Have all pages judged, and count them in their order."""
        under_way: deque[SiteFigures] = deque()

        def tasks() -> Iterator[Task]:
            for name, url, html in self.plan.pages():
                if name in gathered.pages:  # the store of a running crawl may have more by now
                    site = self.sites[name]
                    site.pages += 1
                    under_way.append(site)
                    place = self._place(site, gathered)
                    yield Task(methodcaller("call", SiteWriter.judge, name, url, html, place))

        for figures in run_in_order(tasks(), workers):
            _count(under_way.popleft(), figures)

    def _place(self, site: SiteFigures, gathered: SampledSites) -> Place | None:
        of = min(gathered.pages[site.name], self.plan.bounds.pages) if site.detailed else 0
        return Place(site.folder, site.title, site.pages, of) if site.pages <= of else None


def _count(site: SiteFigures, figures: PageFigures) -> None:
    site.sizes.add(figures.sizes)
    site.guarded += figures.guarded
    site.failed += figures.error is not None
    if figures.skipped:
        site.skipped[figures.skipped] += 1
    if figures.confidence is not None and len(site.sure) < _MAX_CONFIDENCES:
        site.sure.append(figures.confidence)
    if figures.file:
        site.shown.append(figures)
