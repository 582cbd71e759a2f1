"""A contender in a worker process, where its time and memory are measured alone."""

from __future__ import annotations

import logging
import sys
import warnings
from itertools import islice
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from denoise_crawler.evaluation.contenders import Contender, Failure, PageSource, Place, failure, read_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class StoredPage(NamedTuple):
    """A page for a contender; its HTML is in the file of pages."""

    url: str
    place: Place
    language: str | None


class SiteTexts(NamedTuple):
    """A contender's texts of a site, its CPU seconds, and the peak memory of the process in bytes, if known."""

    texts: list[str | Failure]
    seconds: float
    peak_bytes: int | None


class ContenderProcess:
    """A loaded contender and the file of pages."""

    def __init__(self, contender: Contender, file: Path) -> None:
        logging.disable()
        warnings.simplefilter("ignore")
        sys.stdout = sys.stderr  # stdout is for tables
        self._file = file.open("rb")
        self._reading_seconds = 0.0
        self._missing: str | None = None
        try:
            self._extract = contender.load()
        except Exception as error:
            self._missing = str(error)

    def why_missing(self) -> str | None:
        """Return why the contender cannot be loaded; None if it is loaded."""
        return self._missing

    def texts(self, site: Sequence[StoredPage]) -> SiteTexts:
        """Return the texts of a site's pages; if the extractor stops, the remaining pages fail."""
        start, before = process_time(), self._reading_seconds
        texts, why = list[str | Failure](), Failure("no text was given")
        try:
            for text in islice(self._extract(self._sources(site)), len(site)):
                texts.append(text)
        except Exception as error:
            why = failure(error)
        seconds = process_time() - start - (self._reading_seconds - before)
        return SiteTexts(texts + [why] * (len(site) - len(texts)), seconds, peak_bytes())

    def _sources(self, site: Sequence[StoredPage]) -> Iterator[PageSource]:
        for page in site:
            start = process_time()
            html = read_page(self._file, page.place)
            self._reading_seconds += process_time() - start
            yield PageSource(page.url, html, page.language)


def peak_bytes() -> int | None:
    """Return the peak memory of this process in bytes; None if the system does not say."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux getrusage includes the peak of the parent process
        found = status.read_text().split()
        return int(found[found.index("VmHWM:") + 1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
