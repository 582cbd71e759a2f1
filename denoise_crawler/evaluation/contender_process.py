"""One contender in a worker process: its time is counted without reading and sending, its memory is its own."""

from __future__ import annotations

import logging
import sys
import warnings
from itertools import islice
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from denoise_crawler.evaluation.contenders import Contender, Failure, PageSource, failure
from denoise_crawler.evaluation.page_file import Place, read_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class StoredPage(NamedTuple):
    """What a contender gets of a page, whose HTML lies in the file of pages."""

    url: str
    place: Place
    language: str | None


class SiteTexts(NamedTuple):
    """What a contender made of a site: its texts, CPU seconds, and the peak of the process, in bytes if known."""

    texts: list[str | Failure]
    seconds: float
    peak_bytes: int | None


class ContenderProcess:
    """A contender that is loaded, and the file of pages."""

    def __init__(self, contender: Contender, file: Path) -> None:
        logging.disable()
        warnings.simplefilter("ignore")
        sys.stdout = sys.stderr  # the tables' place
        self._file = file.open("rb")
        self._reading_seconds = 0.0
        self._missing: str | None = None
        try:
            self._extract = contender.load()
        except Exception as error:
            self._missing = str(error)

    def why_missing(self) -> str | None:
        """Say why the contender cannot be loaded; None if it is."""
        return self._missing

    def texts(self, site: Sequence[StoredPage]) -> SiteTexts:
        """Return the texts of a site's pages; where the extractor breaks off, the other pages have failed."""
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
    """Return the most memory this process ever held, None where the system does not tell."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage tells on Linux begins at the peak of the process that started this one
        found = status.read_text().split()
        return int(found[found.index("VmHWM:") + 1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
