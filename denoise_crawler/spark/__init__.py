"""Learning and cleaning an archive with Apache Spark: the same road as in a crawl, on many machines."""

from __future__ import annotations

from denoise_crawler.spark.archive import read_archive
from denoise_crawler.spark.cleaning import clean
from denoise_crawler.spark.learning import learn
from denoise_crawler.spark.page_process import Limits

__all__ = ["Limits", "clean", "learn", "read_archive"]
