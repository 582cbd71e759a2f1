"""Columns made of URLs: their site, their key, and which pages of a site are learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql.functions import col
from pyspark.sql.pandas.functions import arrow_udf

from denoise_crawler.batch.worker import site_by
from denoise_crawler.methods.bottom_k import BottomK
from denoise_crawler.page.text import hash64
from denoise_crawler.spark.grouped_rows import group_and_sort, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame

SITE, KEY, PAGES, LIMIT = "_site", "_key", "_pages", "_bar"
_MAX_KEYS_HELD = 1_000_000  # in memory
_MIDDLE = 1 << 63  # subtracted from unsigned hashes: Spark has signed numbers, and the order stays
_LOWEST = f"{SITE} string, {PAGES} bigint, keys array<bigint>"
_LIMITS = f"{SITE} string, {PAGES} bigint, {LIMIT} bigint"
_LOWEST_ARROW = pa.schema([(SITE, pa.string()), (PAGES, pa.int64()), ("keys", pa.list_(pa.int64()))])
_LIMITS_ARROW = pa.schema([(SITE, pa.string()), (PAGES, pa.int64()), (LIMIT, pa.int64())])


def with_site_and_key(pages: DataFrame, site: Callable[[str], str]) -> DataFrame:
    """Add the columns ``SITE`` and ``KEY``, computed from ``url``."""
    schema = pa.struct([(SITE, pa.string()), (KEY, pa.int64())])

    @arrow_udf(f"struct<{SITE}:string,{KEY}:bigint>")  # type: ignore[call-overload, untyped-decorator]
    def placed(urls: pa.Array) -> pa.Array:
        found = [(site_by(site, url or ""), _key(url or "")) for url in urls.to_pylist()]
        sites, keys = [one[0] for one in found], [one[1] for one in found]
        return pa.StructArray.from_arrays(
            [pa.array(sites, pa.string()), pa.array(keys, pa.int64())], fields=schema
        )

    return pages.withColumn("_place", placed(col("url"))).select(*pages.columns, f"_place.{SITE}", f"_place.{KEY}")


def learning_limits(pages: DataFrame, site: Callable[[str], str], limit: int | None) -> DataFrame:
    """Return each site's number of ``PAGES`` and the highest key to learn, ``LIMIT``: null if all are learned.

    Only URLs are read. At most ``limit`` keys of a site leave a partition.
    """

    def lowest(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sites: dict[str, _LowestKeys] = {}
        held = 0
        for batch in batches:
            for url in batch.column("url").to_pylist():
                name = site_by(site, url or "")
                found = sites.setdefault(name, _LowestKeys(limit))
                held += found.add(_key(url or ""))
            if held > _MAX_KEYS_HELD:
                yield _lowest_batch(sites)
                sites, held = {}, 0
        yield _lowest_batch(sites)

    def barred(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for name, rows in grouped(batches, SITE):
            found = _LowestKeys(limit)
            for row in rows:
                found.merge(row[PAGES], row["keys"])
            yield pa.RecordBatch.from_pylist([{SITE: name, PAGES: found.pages, LIMIT: found.bar}], _LIMITS_ARROW)

    partial = pages.select("url").mapInArrow(lowest, _LOWEST)
    return group_and_sort(partial, [SITE]).mapInArrow(barred, _LIMITS)


def _key(url: str) -> int:
    return hash64(url) - _MIDDLE


class _Address(NamedTuple):
    key: int


class _LowestKeys:
    """The lowest keys of a site's pages: one more than are learned, to see whether there are more."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit or 0
        self._lowest: BottomK[_Address] = BottomK(self._limit + 1)
        self.pages = 0

    def add(self, key: int) -> bool:
        self.pages += 1
        return self._add(key)

    def merge(self, pages: int, keys: list[int]) -> None:
        self.pages += pages
        for key in keys:
            self._add(key)

    def _add(self, key: int) -> bool:
        return bool(self._limit) and self._lowest.wants(key) and not self._lowest.add(_Address(key))

    @property
    def keys(self) -> list[int]:
        return [address.key for address in self._lowest]

    @property
    def bar(self) -> int | None:
        return self.keys[self._limit - 1] if len(self._lowest) > self._limit > 0 else None


def _lowest_batch(sites: dict[str, _LowestKeys]) -> pa.RecordBatch:
    rows = [{SITE: name, PAGES: found.pages, "keys": found.keys} for name, found in sites.items()]
    return pa.RecordBatch.from_pylist(rows, _LOWEST_ARROW)
