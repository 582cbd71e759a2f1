"""Writes a report into a folder, site by site."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from denoise_crawler.methods.style_tree.method import StyleTree
from denoise_crawler.output.safe_markup import write_below
from denoise_crawler.page import Page
from denoise_crawler.report.explorer import tree_data
from denoise_crawler.report.figures import (
    PageFigures,
    SiteFigures,
    Sizes,
    findings,
    learning_chart,
    learning_curve,
    page_chart,
)
from denoise_crawler.report.rendering import PageView, page_view, render_page
from denoise_crawler.report.site_samples import sample_sites, style_tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from denoise_crawler.denoiser import Cleaned
    from denoise_crawler.methods import MethodChoice
    from denoise_crawler.report.figures import Chart, RunFigures
    from denoise_crawler.report.site_samples import SampledSites, SitedPages, SiteSample
    from denoise_crawler.store import Store, StoredSite

_NOTHING = PageView("", [])
_MAX_TITLE_CHARACTERS = 300
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")
_UNSAFE = re.compile(r"[^a-z0-9.-]+")
_MAX_CHARTED_SHARES = 2_000
_MAX_LINES, _SHORT_LINE = 2_000, 15  # of a text that are compared with other pages; characters


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

    """

    pages: Callable[[], SitedPages]
    choice: MethodChoice
    bounds: Bounds = Bounds()
    store: Store | None = None
    feed: Chart | None = None
    remote: bool = False


def write_report(folder: Path, plan: Plan, run: RunFigures) -> RunFigures:
    """Write a report; ``index.html`` comes last.

    Args:
        folder: An existing folder.
        plan: The sources of the report. A page on which the method raises shows the error only.
        run: The figures of the run, which are filled in.

    Returns:
        ``run``.

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
        for name, url, html in plan.pages():
            if name in gathered.pages:  # the store of a running crawl may have more by now
                self._judge(self.sites[name], gathered, url, html)
        for site in self.sites.values():
            if site.detailed:
                self._write_site(site, gathered)
        self.run.sites = sorted(self.sites.values(), key=lambda site: (-site.doubt, -site.pages))
        self.run.worth_a_look = findings(self.run.sites)
        self._write("index.html", "index.html", charts=[plan.feed])

    def _site(self, name: str, gathered: SampledSites) -> SiteFigures:
        slug = _UNSAFE.sub("_", name.lower()).strip("._-")[:40] or "no-site"
        detailed = name in gathered.samples or len(self.sites) < self.plan.bounds.sites
        site = SiteFigures(name, f"{len(self.sites) + 1:03}-{slug}", detailed=detailed)
        if (stored := self.stored.get(name)) is not None:
            site.pages_seen = max((state.pages_seen for state in stored.states.values()), default=0)
            site.ready = any(state.ready for state in stored.states.values())
            site.waiting, site.known_by = stored.waiting, stored.known_by
        return site

    # --- pages

    def _judge(self, site: SiteFigures, gathered: SampledSites, url: str, html: str | bytes) -> None:
        site.pages += 1
        figures = PageFigures(
            url,
            url,
            Sizes(html_bytes=len(html) if isinstance(html, bytes) else len(html.encode("utf-8", "replace"))),
        )
        most = self.plan.bounds.pages
        shown = site.detailed and len(site.shown) < most
        try:
            page = Page.parse(url, html, site=site.name)
            cleaned = gathered.denoiser.clean(page)
            _measure(figures, cleaned)
            view = page_view(cleaned, remote=self.plan.remote) if shown else _NOTHING
            language = page.language
        except Exception as error:  # whatever it is, the other pages go on
            view, language = _NOTHING, None
            figures.error = f"{type(error).__name__}: {error}"[:200]
            site.failed += 1
        if shown:
            figures.file = f"page-{len(site.shown) + 1:03}.html"
            self._write_page(site, figures, view, language, min(gathered.pages[site.name], most))
        self._count(site, figures, shown=shown)

    def _count(self, site: SiteFigures, figures: PageFigures, *, shown: bool) -> None:
        site.sizes.add(figures.sizes)
        site.guarded += figures.guarded
        if figures.skipped:
            site.skipped[figures.skipped] += 1
        share = figures.sizes.noise_share
        if share is not None and len(site.shares) < _MAX_CHARTED_SHARES:
            site.shares.append(share)
        if figures.confidence is not None and len(site.sure) < _MAX_CHARTED_SHARES:
            site.sure.append(figures.confidence)
        if shown:
            site.shown.append(figures)

    def _write_page(
        self, site: SiteFigures, figures: PageFigures, view: PageView, language: str | None, of: int
    ) -> None:
        position = len(site.shown) + 1
        self._write(
            f"{site.folder}/{figures.file}",
            "page.html",
            scripts=["page.js"],
            site=site,
            page=figures,
            language=language if language and _LANGUAGE.fullmatch(language) else None,
            view=view,
            position=position,
            of=of,
            previous=f"page-{position - 1:03}.html" if position > 1 else None,
            next=f"page-{position + 1:03}.html" if position < of else None,
        )

    # --- sites

    def _write_site(self, site: SiteFigures, gathered: SampledSites) -> None:
        sample = gathered.samples.get(site.name)
        method = gathered.denoiser.method_for(site.name)
        site.pages_known = method.pages_known
        self._write_tree(site, sample)
        if sample is not None and not (self.plan.store and site.known_by):
            site.curve = learning_curve(list(sample.pages()), self.plan.choice, site.name)
        self._write(
            f"{site.folder}/index.html", "site.html", site=site, charts=[learning_chart(site), page_chart(site)]
        )

    def _write_tree(self, site: SiteFigures, sample: SiteSample | None) -> None:
        tree, note = style_tree_of(site.name, sample, self._tree_options(), self.plan.store)
        if tree is None:
            site.tree_note = note
            return
        shown = [page for page in site.shown if not page.skipped and not page.error]
        files = {page.url: (page.title or page.url, page.file) for page in shown}
        sampled = {url: html for url, html in (sample.pages() if sample else ()) if url in files}
        pages = [Page.parse(url, html, site=site.name) for url, html in sampled.items()]
        data = tree_data(tree.tree, pages, threshold=tree.threshold, max_nodes=self.plan.bounds.nodes)
        links = [{"title": files[page.url][0], "file": files[page.url][1]} for page in pages]
        site.tree_nodes = len(data.parents)
        self._write(
            f"{site.folder}/tree.html",
            "tree.html",
            scripts=["tree.js"],
            site=site,
            data=data,
            pages=links,
            note=note,
            judged_by=self.plan.choice.name,
        )

    def _tree_options(self) -> Mapping[str, object]:
        return self.plan.choice.options if self.plan.choice.name == StyleTree.name else {}

    def _write(self, name: str, template: str, **values: Any) -> None:
        html = render_page(template, run=self.run, remote=self.plan.remote, **values)
        write_below(self.folder, name, html)


def _measure(figures: PageFigures, cleaned: Cleaned) -> None:
    """Fill in the figures of a page."""
    clean, sizes = cleaned.clean_page, figures.sizes
    sizes.visible, sizes.kept = cleaned.visible, cleaned.kept
    text = str(clean.text)  # blocks as JSON
    sizes.text_bytes = len(text.encode("utf-8", "replace"))
    figures.title, figures.skipped = clean.title[:_MAX_TITLE_CHARACTERS], cleaned.page.skipped
    figures.guarded, figures.confidence, figures.page_type = cleaned.guarded, clean.confidence, clean.page_type
    figures.language, figures.date = (clean.language or "").split("-")[0].lower() or None, clean.date
    figures.lines = [hash(line) for line in text.splitlines()[:_MAX_LINES] if len(line) > _SHORT_LINE]
