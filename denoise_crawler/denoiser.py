"""The one road: a page in, its site learned, the page judged, its record (:class:`Cleaned`) out."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

from denoise_crawler.methods import DEFAULT_METHOD, Judgement, Method, MethodChoice, guarded
from denoise_crawler.methods.knowledge import InMemoryKnowledge, Knowledge
from denoise_crawler.output import extractors
from denoise_crawler.output.characters import count_characters, noise_ratio
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.explanation import explanation
from denoise_crawler.output.markdown import clean_markdown
from denoise_crawler.output.part import find_part, noise_outside_part
from denoise_crawler.output.text import clean_text
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.page.metadata import metadata_of
from denoise_crawler.page.site import layout_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SITES_IN_MEMORY = 100
AS_TEXT = Writing()
MAX_LAYOUTS = 4
# Share of a page's text that stands where no page of a layout has any; above it, the page has another layout.
# Pages of another site measure 1.00; .5 would take a fifth or more of the pages of varied sites.
STRANGE = 0.9
_SPOOLED_BYTES = 64 << 20
_KEPT_CHARACTERS = 8_000_000
RAW = "raw"  # stands for the method where a page was not judged
_FORMS = {"text": clean_text, "markdown": clean_markdown}


@dataclass(frozen=True, slots=True, eq=False)
class Cleaned:
    """The record of one page that was cleaned.

    ``judgement`` is None for a page that was not judged: then all of its text is kept. ``visible`` counts the
    characters of the page that are no white space, ``kept`` those of them that are no noise. The two do not
    depend on the form of the text, nor on an extractor.

    Example:
        >>> cleaned = Denoiser("link_ratio").clean(Page.parse("", "<nav><a href=/>Home</a></nav><p>A story.</p>"))
        >>> cleaned.clean_page.text, cleaned.visible, cleaned.kept
        ('A story.', 11, 7)

    """

    page: Page
    judgement: Judgement | None
    clean_page: CleanPage
    visible: int
    kept: int

    @property
    def noise_ratio(self) -> float:
        """The share of the visible characters that is noise (0-1); 0 for a page without text."""
        return noise_ratio(self.visible, self.kept)

    @property
    def guarded(self) -> bool:
        """Whether the guard took a safer verdict, as next to nothing would have been left."""
        return self.judgement is not None and self.judgement.guarded


class Denoiser:
    """Learns sites and judges their pages with one method.

    Args:
        method: The name of the method, or a choice of one with its options.
        knowledge: Where what is known of sites lies while it is not in use; in memory if not given.
        sites_in_memory: How many sites are kept in use, the last used.
        writing: How the text is written.

    Raises:
        MethodError: There is no such method.
        ExtractorError: The extractor that ``writing`` names cannot be used.

    """

    def __init__(
        self,
        method: str | MethodChoice = DEFAULT_METHOD,
        *,
        knowledge: Knowledge | None = None,
        sites_in_memory: int = SITES_IN_MEMORY,
        writing: Writing = AS_TEXT,
    ) -> None:
        self._choice = MethodChoice.of(method)
        self._knowledge: Knowledge = InMemoryKnowledge() if knowledge is None else knowledge
        self._sites_in_memory = sites_in_memory
        self._sites: OrderedDict[str, Method] = OrderedDict()
        self._layouts: dict[str, int] = {}
        self._writing = writing
        self.learns = self._choice.learns
        extractors.check(writing.extractor, writing.extractor_options)

    def method_for(self, site: str) -> Method:
        """Return the method with what is known of ``site``."""
        if site in self._sites:
            self._sites.move_to_end(site)
            return self._sites[site]
        known = self._knowledge.get(site) if self.learns else None
        method = self._choice.knowing([known] if known else [], site)
        self._sites[site] = method
        while len(self._sites) > self._sites_in_memory:
            self._put_away(*self._sites.popitem(last=False))
        return method

    def layouts(self, site: str) -> int:
        """Return how many layouts of ``site`` are known: more than one if a crawl saw that it was redesigned."""
        if site not in self._layouts:
            known = 1
            while self.learns and known < MAX_LAYOUTS and self._knowledge.get(layout_name(site, known + 1)):
                known += 1
            self._layouts[site] = known
        return self._layouts[site]

    def best_layout(self, page: Page) -> tuple[Method, float]:
        """Return what knows the layout that ``page`` is least strange to, and how strange it is there."""
        found = self.method_for(page.site)
        strangeness = found.strangeness(page)
        for number in range(2, self.layouts(page.site) + 1):
            if strangeness <= STRANGE:
                break
            other = self.method_for(layout_name(page.site, number))
            if (less := other.strangeness(page)) < strangeness:
                found, strangeness = other, less
        return found, strangeness

    def add_layout(self, site: str, known: Method) -> str:
        """Keep what is ``known`` of one more layout of ``site``, also where knowledge lies; return its name."""
        self._layouts[site] = self.layouts(site) + 1
        layout = layout_name(site, self._layouts[site])
        self.method_for(layout).merge(known)
        self.save(layout)
        return layout

    def method_of(self, page: Page) -> Method:
        """Return the method with what is known of the layout that ``page`` has."""
        return self.method_for(page.site) if self.layouts(page.site) == 1 else self.best_layout(page)[0]

    def learn(self, page: Page) -> None:
        """Add ``page`` to what is known of its site."""
        if self.learns and (method := self.method_for(page.site)).wants(page) and not page.skipped:
            method.observe(page)

    def judge(self, page: Page, *, method: Method | None = None) -> Judgement:
        """Say of each node of ``page`` whether it is noise; a verdict that leaves next to nothing is replaced.

        Args:
            page: The page.
            method: What knows the page's layout, where the caller has found that already (:meth:`method_of`).

        Returns:
            The verdict; its ``guarded`` says whether a safer one took the place of the method's own.

        """
        return guarded(page, (self.method_of(page) if method is None else method).judge(page))

    def write(self, page: Page, judgement: Judgement, *, warm: bool = True) -> Cleaned:
        """Write what a judgement leaves of ``page``.

        Args:
            page: The page.
            judgement: What :meth:`judge` said of it.
            warm: Whether the site was known by then.

        Returns:
            The record. Where the extractor of ``writing`` gave the text, its name stands behind that of the
            method, as in ``fusion+trafilatura``. Where it gave none, the text is our own.

        """
        return self._record(page, judgement, self._choice.name, warm=warm)

    def clean(self, page: Page, *, warm: bool = True, method: Method | None = None) -> Cleaned:
        """Judge ``page`` and write what is left of it.

        Args:
            page: The page; what is to be known of its site was learned before.
            warm: Whether the site is known: the clean page says so.
            method: What knows the page's layout, where the caller has found that already (:meth:`method_of`).

        Returns:
            The record of the page.

        """
        return self.write(page, self.judge(page, method=method), warm=warm)

    def raw(self, page: Page) -> Cleaned:
        """Write all text of ``page``, without judging it.

        Returns:
            The record, with no judgement, the method "raw" and all characters kept; no extractor is asked.

        """
        return self._record(page, None, RAW, warm=False)

    def part(self, cleaned: Cleaned, part: str) -> CleanPage:
        """Return the clean page of a part of a page that was cleaned; the text is written by us.

        Args:
            cleaned: The record of the page.
            part: A CSS selector, an XPath expression or the HTML of a node.

        Returns:
            The same clean page with the text and the ``noise_ratio`` of the part.

        Raises:
            PartError: the part is not there.
        """
        page, noise = cleaned.page, None if cleaned.judgement is None else cleaned.judgement.noise
        inside = find_part(page, part)
        outside = noise_outside_part(page, noise, inside)
        visible = sum(sum(page.characters[subtree.start : subtree.stop]) for subtree in inside)
        _, kept = count_characters(page, outside)
        text = _FORMS[self._writing.form](page, outside)
        return replace(cleaned.clean_page, text=text, noise_ratio=round(noise_ratio(visible, kept), 4))

    def save(self, site: str | None = None) -> None:
        """Put what is known of ``site`` (None: of every site) where knowledge lies."""
        for name, method in self._sites.items():
            if site in (None, name):
                self._put_away(name, method)

    def _record(self, page: Page, judgement: Judgement | None, method: str, *, warm: bool) -> Cleaned:
        writing, noise = self._writing, None if judgement is None else judgement.noise
        visible, kept = count_characters(page, noise)
        text = _FORMS[writing.form](page, noise)
        theirs = ""
        if text and noise is not None and writing.extractor is not None:
            theirs = extractors.written(page, noise, writing.extractor, writing.extractor_options)
        metadata = metadata_of(page)
        clean_page = CleanPage(
            url=page.url,
            site=page.site,
            title=metadata.title,
            author=metadata.author,
            date=metadata.date,
            text=theirs or text,
            language=metadata.language,
            fetched_at=None,
            method=f"{method}+{writing.extractor}" if theirs else method,
            warm=warm,
            noise_ratio=round(noise_ratio(visible, kept), 4),
            confidence=None if judgement is None else judgement.confidence,
            explanation=explanation(page, judgement) if writing.explain and judgement is not None else None,
        )
        return Cleaned(page, judgement, clean_page, visible, kept)

    def _put_away(self, site: str, method: Method) -> None:
        if method.learns and method.pages_known:
            self._knowledge.put(site, method.to_bytes())


def denoise_pages(
    pages: Iterable[tuple[str, str | bytes]],
    *,
    method: str = DEFAULT_METHOD,
    writing: Writing = AS_TEXT,
    **options: object,
) -> Iterator[CleanPage]:
    """Learn each site from all of its ``pages``, given as (url, html), and yield their CleanPages in order.

    A method that learns reads the pages twice: between the two readings the first 8 million characters wait
    parsed, the others lie in a temporary file (in memory up to 64 MB). The url identifies the page: of pages with
    the same one, one is learned. ``writing`` says how the text is written, ``options`` are the method's. Raises,
    at once, :class:`MethodError` for an unknown method or option, :class:`ExtractorError` for an extractor that
    cannot be used.
    """
    return _denoised(Denoiser(MethodChoice(method, options), writing=writing), pages)


def _denoised(denoiser: Denoiser, pages: Iterable[tuple[str, str | bytes]]) -> Iterator[CleanPage]:
    if not denoiser.learns:
        yield from (denoiser.clean(Page.parse(url, html)).clean_page for url, html in pages)
        return
    kept: list[Page] = []  # the first pages need not be parsed again
    room, spooled = _KEPT_CHARACTERS, 0
    with SpooledTemporaryFile(max_size=_SPOOLED_BYTES) as spool:
        for url, html in pages:
            page = Page.parse(url, html)
            denoiser.learn(page)
            room -= len(html)
            if room >= 0:
                kept.append(page)
            else:
                pickle.dump((url[:], html[:]), spool)  # sliced: not a subclass, as lxml gives
                spooled += 1
        kept.reverse()
        while kept:
            yield denoiser.clean(kept.pop()).clean_page
        spool.seek(0)
        for _ in range(spooled):
            url, html = pickle.load(spool)  # noqa: S301 - a file of our own, without a name
            yield denoiser.clean(Page.parse(url, html)).clean_page
