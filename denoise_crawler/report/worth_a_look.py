"""Pages of a report that are worth a look: where the method is unsure, or a page is unlike its site."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from denoise_crawler.page.text import counted
from denoise_crawler.report.figures import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from denoise_crawler.report.figures import PageFigures, SiteFigures

MAX_FINDINGS, MAX_OF_A_KIND = 40, 8
_MIN_PAGES = 4  # of a site that its pages can be unlike
_UNSURE = 0.8
_FAR = 0.25  # from the median of the site, as a share of the visible characters
_MANY = 3  # pages that have a line


def findings(sites: Iterable[SiteFigures]) -> list[Finding]:
    """Return what is worth a look on the pages that the report shows, the worst first.

    Args:
        sites: The sites with their pages.

    Returns:
        At most MAX_OF_A_KIND findings of a kind, MAX_FINDINGS in all, each page once.

    """
    found = sorted((one for site in sites for one in _of_site(site)), key=lambda one: -one.weight)
    kinds, pages, taken = Counter[str](), set[int](), list[Finding]()
    for one in found:
        if kinds[one.kind] < MAX_OF_A_KIND and id(one.page) not in pages and len(taken) < MAX_FINDINGS:
            kinds[one.kind] += 1
            pages.add(id(one.page))
            taken.append(one)
    return taken


def _of_site(site: SiteFigures) -> Iterator[Finding]:
    pages = [page for page in site.shown if not page.skipped and not page.error]
    for page in site.shown:
        if page.error or page.skipped:
            yield Finding(site, page, "nothing", page.error or f"nothing to read: {page.skipped}", 1.0)
    for page in pages:
        if page.confidence is not None and page.confidence < _UNSURE:
            said = f"the method expects an F1 of {page.confidence:.2f} only"
            yield Finding(site, page, "unsure", said, 1.0 - page.confidence)
        missing = [name for name, value in (("title", page.title), ("date", page.date)) if not value]
        if missing and page.page_type == "article":
            said = f"an article without {' and '.join(missing)}"
            yield Finding(site, page, "missing", said, 0.1 * len(missing))
    if len(pages) >= _MIN_PAGES:
        yield from _unlike(site, pages)
        yield from _repeated(site, pages)


def _unlike(site: SiteFigures, pages: list[PageFigures]) -> Iterator[Finding]:
    """Yield pages whose share of noise, language or type is not that of their site."""
    shares = [page.sizes.noise_share for page in pages]
    usual = median(share for share in shares if share is not None) if any(shares) else 0.0
    for page, share in zip(pages, shares, strict=True):
        if share is not None and abs(share - usual) > _FAR:
            amount = "more" if share > usual else "less"
            said = f"{share:.0%} removed, much {amount} than the {usual:.0%} of its site"
            yield Finding(site, page, f"{amount} removed", said, abs(share - usual))
    for name, what in (("language", "language"), ("page_type", "type")):
        values = Counter(getattr(page, name) for page in pages)
        common, often = values.most_common(1)[0]
        for page in pages if often * 4 >= len(pages) * 3 else ():
            if (value := getattr(page, name)) not in (common, None, ""):
                said = f"its {what} is {value}, that of the other pages {common}"
                yield Finding(site, page, what, said, 0.3)


def _repeated(site: SiteFigures, pages: list[PageFigures]) -> Iterator[Finding]:
    """Yield the page with most lines of text that stay on many pages of the site."""
    on = Counter(line for page in pages for line in set(page.lines))
    many = max(_MANY, len(pages) // 3)
    for page in pages:
        if lines := {line for line in page.lines if on[line] >= many}:
            most = max(on[line] for line in lines)
            said = f"{counted(len(lines), 'line')} of its text also on other pages, one on {most} of {len(pages)}"
            yield Finding(site, page, "repeated", said, min(1.0, 0.2 + len(lines) / max(1, len(page.lines))))
