"""Writes a report into a folder: learns the sites, has their pages judged and written, then the start page."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING

from denoise_crawler.batch.workers import Caller, Task, open_workers, run_in_order
from denoise_crawler.output.safe_markup import write_below
from denoise_crawler.report.figures import Chart, PageFigures, RunFigures, SiteFigures, findings
from denoise_crawler.report.rendering import render_page
from denoise_crawler.report.site_writer import Frame, Place, SampledSites, SiteWriter, sample_sites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from denoise_crawler.methods import MethodChoice
    from denoise_crawler.report.site_writer import SitedPages
    from denoise_crawler.store import Store, StoredSite

_UNSAFE = re.compile(r"[^a-z0-9.-]+")
_MAX_CHARTED_SHARES = 2_000


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
        feed: The chart of a feed.
        remote: Whether painted pages may fetch their pictures and style sheets.
        workers: The number of processes. The report is the same for every number.

    """

    pages: Callable[[], SitedPages]
    choice: MethodChoice
    bounds: Bounds = Bounds()
    store: Store | None = None
    feed: Chart | None = None
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
        start = render_page("index.html", run=self.run, remote=plan.remote, charts=[plan.feed])
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
    share = figures.sizes.noise_share
    if share is not None and len(site.shares) < _MAX_CHARTED_SHARES:
        site.shares.append(share)
    if figures.confidence is not None and len(site.sure) < _MAX_CHARTED_SHARES:
        site.sure.append(figures.confidence)
    if figures.file:
        site.shown.append(figures)
