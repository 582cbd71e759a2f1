"""Cleans archives with Apache Spark, as a batch does, on many machines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from denoise_crawler.batch.process_pool import Limits
from denoise_crawler.errors import needs

if TYPE_CHECKING:
    from denoise_crawler.spark.archive import read_archive
    from denoise_crawler.spark.cleaning import clean

__all__ = ["Limits", "clean", "read_archive"]

_MODULES = {"clean": "cleaning", "read_archive": "archive"}


def __getattr__(name: str) -> Any:
    """Import a part on first use, so that the command can name a missing package in one line."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needs("spark"):
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
