"""The errors of denoise_crawler. All have one base; each message says what is wrong and what to do."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class DenoiseError(Exception):
    """The base of all errors of denoise_crawler."""


class SourceError(DenoiseError, ValueError):
    """A path cannot be read; the message names it and the formats that can."""


class UnreadableBodyError(DenoiseError, ValueError):
    """The body has a content encoding that cannot be decoded; the message names it."""


class GoldError(DenoiseError, ValueError):
    """A file or folder holds no gold set; the message names it."""


class GivenPageError(DenoiseError, ValueError):
    """A spider names something as the page of its items that is no page; the message says what to give."""


class UnparkableError(DenoiseError, ValueError):
    """An item cannot be stored or read back; the message names its class and the reason."""


class RenderingError(DenoiseError):
    """A page could not be read in the browser; the message says which and why."""


class OldScrapyError(DenoiseError, ValueError):
    """A part of denoise_crawler needs a newer Scrapy; the message says which version."""


class SettingError(DenoiseError, ValueError):
    """A setting has an invalid value; the message names it and says what to set."""


class CoreError(DenoiseError, RuntimeError):
    """The compiled core cannot be used though it is required; the message says why."""


class CrawlError(DenoiseError, SystemExit, RuntimeError):
    """A crawl cannot begin; the message says why and what to do.

    A script may catch it around ``CrawlerProcess.start()``. Uncaught, it ends the program with the message and
    exit status 1. It is a SystemExit because the event loop swallows every other error of a crawl.
    """


class KnowledgeFormatError(DenoiseError, ValueError):
    """The bytes are not what a method knows of a site, are damaged, or come from a newer version."""


class WeightsError(DenoiseError, ValueError):
    """A file of weights cannot be used; the message says why."""


class MethodError(DenoiseError, ValueError):
    """No method has that name, or the method does not take such options."""


class SelectorError(DenoiseError, ValueError):
    """A selector is neither CSS nor XPath; the message says where it is wrong."""


class RulesError(DenoiseError, ValueError):
    """Site rules cannot be read or written; the message says which and why."""


class LinkedOutputError(DenoiseError, OSError):
    """The output would be written through a link; the message names it."""


class ExtractorError(DenoiseError, ValueError):
    """There is no such extractor, or its library is not installed; the message says what to do."""


class ExtractorOptionsError(ExtractorError):
    """The library does not take these options."""


class StoreError(DenoiseError):
    """The store file cannot be used; the message says which and what to do."""


class DamagedStoreError(StoreError):
    """The store is damaged or of another release; ``what`` describes it without advice."""

    def __init__(self, message: str, what: str) -> None:
        super().__init__(message)
        self.what = what


class DamagedRowError(StoreError):
    """A row of the store cannot be read; the rest of the file can."""


class SharedStoreError(StoreError):
    """The folder cannot be used; the message says which and why."""


class MissingExtraError(DenoiseError, ImportError):
    """A package of an extra is not installed; the message says which and how to get it."""


class BatchError(DenoiseError):
    """The batch cannot go on, because a process died or the disk is full; the message says which."""


class FetchError(DenoiseError):
    """A page could not be fetched; the message names the address and says why."""


class PrivateHostError(FetchError):
    """A host has an address of this machine or a private network; the message names the host."""


class OutputError(DenoiseError, ValueError):
    """The output cannot be written where or how the user asked; the message says why."""


class BadArgumentError(DenoiseError, ValueError):
    """A spider argument is invalid; the message names it and says what to write."""


class WorkerError(DenoiseError):
    """A task of a worker process has no result; the message says why."""


class TaskError(WorkerError):
    """A task raised; the message says what and where. Its process lives on."""


class WorkerDiedError(WorkerError):
    """The process of a task died; the message says how. ``too_long``: the task exceeded its time limit."""

    too_long = False


def describe_error(error: BaseException) -> str:
    """Return an error and where it was raised, in one line; the message of a worker's error as it is."""
    if isinstance(error, WorkerError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Turn a failed import inside the block into an error that names the extra to install.

    Args:
        extra: The extra of denoise_crawler that installs the package.

    Raises:
        MissingExtraError: A package of the extra is not installed.

    Example:
        >>> with needs("commands"):
        ...     import rich
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "a package").partition(".")[0]
        message = f"{package} is not installed: pip install 'denoise-crawler[{extra}]'"
        raise MissingExtraError(message, name=error.name) from None
