"""A page on which we failed: its record, and the one line of the log that has the traceback."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from denoise_crawler.errors import describe_error
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.page import Page

logger = logging.getLogger(__name__)

LEARNED, CLEANED, RENDERED = "learned", "cleaned", "rendered"
BUG = "because of a bug in denoise_crawler"


@dataclass(frozen=True, slots=True)
class PageFailure:
    """What was raised while a page was learned, cleaned or rendered, as another process can be told.

    ``error`` says it in one line; ``lines`` are those of the traceback, without control characters.
    """

    url: str
    done: str
    error: str
    lines: tuple[str, ...]

    @classmethod
    def of(cls, url: str, done: str, error: Exception) -> PageFailure:
        """Return the failure that an exception is."""
        raised = "".join(traceback.format_exception(error)).splitlines()
        return cls(url, done, describe_error(error), tuple(map(printable, raised)))

    def log(self) -> None:
        """Log one line, with the traceback."""
        logger.error(
            "%s cannot be %s %s; the others go on\n%s", printable(self.url), self.done, BUG, "\n".join(self.lines)
        )


def failed_page(url: str, site: str, error: str) -> CleanPage:
    """Return the clean page of one on which we failed: it has no text, and names the error."""
    return CleanPage(url, site, method=None, warm=False, error=error)


def learn_or_fail(learn: Callable[[Page], None], page: Page) -> bool:
    """Learn a page; return whether that went well, and log it if not."""
    try:
        learn(page)
    except Exception as error:  # whatever it is, the other pages go on
        PageFailure.of(page.url, LEARNED, error).log()
        return False
    return True


class _Cleaned(Protocol):
    @property
    def clean_page(self) -> CleanPage:
        """The clean page."""


def clean_or_fail(clean: Callable[[Page], _Cleaned], page: Page, *, logged: bool = False) -> CleanPage:
    """Clean a page; if that raises, log it unless it is ``logged`` already, and return the page without text."""
    try:
        return clean(page).clean_page
    except Exception as error:  # whatever it is, the other pages go on
        failure = PageFailure.of(page.url, CLEANED, error)
        if not logged:
            failure.log()
        return failed_page(page.url, page.site, failure.error)
