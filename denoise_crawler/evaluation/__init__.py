"""Gold sets, measures of a text against its gold text, and the evaluation of a method by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from denoise_crawler.batch import clean_pages
from denoise_crawler.evaluation.gold import (
    GoldPage,
    Score,
    addressed,
    by_site,
    grade_shares,
    half,
    mean,
    score,
    score_by_characters,
)
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page

# --- evaluates methods on a gold set: each page is cleaned as in a batch, and its text is scored

VISIBLE_TEXT = "all visible text"


class Evaluation(msgspec.Struct, frozen=True):
    """The means of one method over the pages of a set that have gold text, each page counting the same.

    ``grades`` are the shares of pages with each of ``GRADES``; ``failed`` counts pages that could not be cleaned.
    """

    set: str
    method: str
    pages: int
    words: Score
    characters: Score
    grades: tuple[float, ...]
    failed: int


def select(
    pages: Iterable[GoldPage], *, language: str | None = None, of_half: int | None = None, at_least: int = 1
) -> list[GoldPage]:
    """Return pages by site: of one language, of one half of the sites, of sites with enough such pages.

    Example:
        >>> pages = [GoldPage(str(number), f"{number % 2}.example", "") for number in range(3)]
        >>> [page.id for page in select(pages, at_least=2)]
        ['0', '2']
    """
    chosen = (page for page in pages if language in (None, page.language) and of_half in (None, half(page.site)))
    return [page for site in by_site(chosen, at_least).values() for page in site]


def evaluate(
    name: str, pages: Sequence[GoldPage], method: str | MethodChoice, *, workers: int | None = 1
) -> Evaluation:
    """Return how good the texts of a method are. Each site is learned from all of its pages.

    Args:
        name: The name of the set.
        pages: Its pages, as from :func:`select`. One without gold text is learned, not scored.
        method: The method; ``VISIBLE_TEXT`` stands for the page without its markup.
        workers: The number of processes, as for :func:`~denoise_crawler.batch.clean_pages`.

    Raises:
        MethodError: The method or an option is unknown.
        BatchError: No process can be started.

    Example:
        >>> page = GoldPage("1", "a.example", "<nav><a href=/>Home</a></nav><p>A story.", gold="A story.")
        >>> evaluate("mine", [page], "link_ratio").words
        Score(precision=1.0, recall=1.0, f1=1.0)
    """
    scores, failed = list[tuple[Score, Score]](), 0
    for page, (text, error) in zip(pages, _texts(pages, method, workers), strict=True):
        failed += error is not None
        if page.gold is not None:
            scores.append((score(text, page.gold), score_by_characters(text, page.gold)))
    words, characters = ([both[kind] for both in scores] for kind in (0, 1))
    grades = grade_shares([one.f1 for one in words])
    label = method if isinstance(method, str) else method.name
    return Evaluation(name, label, len(scores), mean(words), mean(characters), grades, failed)


def _texts(
    pages: Sequence[GoldPage], method: str | MethodChoice, workers: int | None
) -> Iterator[tuple[str, str | None]]:
    """Yield the text of each page, and the error of one that could not be cleaned."""
    sources = [source for site in by_site(pages).values() for source in addressed(site)]
    if method == VISIBLE_TEXT:
        yield from ((clean_text(Page.parse(url, html)), None) for url, html in sources)
        return
    for result in clean_pages(lambda: sources, method, workers=workers):
        yield result.page.text, result.page.error
