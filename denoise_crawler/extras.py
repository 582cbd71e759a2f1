"""The optional parts of the package: what is to be installed for one that is missing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class MissingExtraError(ImportError):
    """A package of an extra is not installed; the message says which and how to get it."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Import what ``extra`` brings; raise :class:`MissingExtraError` if it is not there.

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
