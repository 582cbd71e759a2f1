"""Learning and cleaning an archive with Apache Spark: the same road as in a crawl, on many machines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from denoise_crawler.batch.workers import Limits
from denoise_crawler.errors import needs

if TYPE_CHECKING:
    from denoise_crawler.spark.archive import read_archive
    from denoise_crawler.spark.cleaning import clean
    from denoise_crawler.spark.learning import learn

__all__ = ["Limits", "clean", "learn", "read_archive"]

_MODULES = {"clean": "cleaning", "learn": "learning", "read_archive": "archive"}


def __getattr__(name: str) -> Any:
    """Import a part when it is asked for, so that the command can say in a line what is not installed."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needs("spark"):
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
