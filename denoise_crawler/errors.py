"""The errors that denoise_crawler raises, all of one base; each message says what is wrong and what to do."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class DenoiseError(Exception):
    """The base of all errors of denoise_crawler."""


class SourceError(DenoiseError, ValueError):
    """A path cannot be read from; the message names it and what is understood."""


class UnreadableBodyError(DenoiseError, ValueError):
    """The body is in an encoding that cannot be undone; the message names it."""


class GoldError(DenoiseError, ValueError):
    """A file or folder that holds no gold set; the message names it."""


class FeedError(DenoiseError, ValueError):
    """A file holds no clean items; the message names it and says what is wanted."""


class GivenPageError(DenoiseError, ValueError):
    """What a spider gives as the page of its items is none; the message says what to give."""


class UnparkableError(DenoiseError, ValueError):
    """An item cannot be stored, or not be read again; the message names the class and what is wrong."""


class RenderingError(DenoiseError):
    """A page could not be read in the browser; the message says which and why."""


class OldScrapyError(DenoiseError, ValueError):
    """A part of ours needs a newer Scrapy; the message says which."""


class SettingError(DenoiseError, ValueError):
    """A setting has a value that cannot be used; the message names it and says what to set."""


class CrawlError(DenoiseError, SystemExit, RuntimeError):
    """A crawl cannot begin; the message says why and what to do.

    A script may catch it around ``CrawlerProcess.start()``, as any error. Where nobody does, the program ends with
    the message and exit status 1. It is a SystemExit because an event loop lets no other error of a crawl out.
    """


class EvidenceFormatError(DenoiseError, ValueError):
    """The bytes are not site evidence, are damaged, or come from a newer version."""


class WeightsError(DenoiseError, ValueError):
    """A file of weights that cannot be used; the message says why."""


class MethodError(DenoiseError, ValueError):
    """No method has that name, or the method does not take such options."""


class TreeFormatError(DenoiseError, ValueError):
    """The bytes are not a tree, are damaged, or come from a newer version."""


class ReferencesFormatError(DenoiseError, ValueError):
    """The bytes are not reference pages, are damaged, or come from a newer version."""


class PartError(DenoiseError, ValueError):
    """A part cannot be found on its page; the message says why."""


class DrawingError(DenoiseError, RuntimeError):
    """A drawing cannot be made; the message says what to install or to change."""


class LinkedOutputError(DenoiseError, OSError):
    """A link stands where a file or a folder is to be written; the message names it."""


class ExtractorError(DenoiseError, ValueError):
    """There is no such extractor, or its library is not installed; the message says what to do."""


class ExtractorOptionsError(ExtractorError):
    """The library does not take these options."""


class StoreError(DenoiseError):
    """The store file cannot be used; the message says which and what to do."""


class DamagedStoreError(StoreError):
    """The file is a store that SQLite finds damaged; ``what`` says so without advice."""

    def __init__(self, message: str, what: str) -> None:
        super().__init__(message)
        self.what = what


class DamagedRowError(StoreError):
    """A row cannot be read; the file as a whole can."""


class SharedStoreError(StoreError):
    """The folder cannot be used; the message says which and why."""


class AppendError(DenoiseError, ValueError):
    """The feed's file has something in it already, and Parquet cannot be appended to."""


class MissingExtraError(DenoiseError, ImportError):
    """A package of an extra is not installed; the message says which and how to get it."""


class BatchError(DenoiseError):
    """The work cannot go on: a process died, or a disk is full; the message says what happened."""


class FetchError(DenoiseError):
    """A page could not be fetched; the message names the address and says why."""


class OutputError(DenoiseError, ValueError):
    """The output cannot be written as it was said; the message says why."""


class BadArgumentError(DenoiseError, ValueError):
    """A spider argument that cannot be used; the message names it and says what to write."""


class WorkerError(DenoiseError):
    """A task has no result; the message says why. ``about`` is what :class:`Task` said the task is about."""

    about = ""


class TaskError(WorkerError):
    """A task raised; the message says what and where. Its process goes on."""


class WorkerDiedError(WorkerError):
    """A task was lost with its process; the message says how. ``too_long``: because it was over its time."""

    too_long = False


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Import what ``extra`` brings.

    Args:
        extra: The name of an extra of the package.

    Raises:
        MissingExtraError: A package of the extra is not installed.

    Example:
        >>> with needs("parquet"):
        ...     import pyarrow

    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "a package").partition(".")[0]
        message = f"{package} is not installed: pip install 'denoise-crawler[{extra}]'"
        raise MissingExtraError(message, name=error.name) from None
