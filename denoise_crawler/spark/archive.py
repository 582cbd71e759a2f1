"""Reads pages from files as a DataFrame: Parquet and JSON Lines by Spark, other formats by ``read_pages``."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import fsspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col
from pyspark.sql.pandas.functions import arrow_udf

from denoise_crawler.batch.worker import site_by
from denoise_crawler.errors import SourceError
from denoise_crawler.methods.keeping import BottomK
from denoise_crawler.page.parsing import decode_html
from denoise_crawler.page.text import hash64, without_lone_surrogates
from denoise_crawler.reading import FORMATS, Reading, read_pages
from denoise_crawler.spark.page_handler import group_and_sort, grouped

logger = logging.getLogger(__name__)

_MAX_BATCH_PAGES = 64
_MAX_BATCH_CHARACTERS = 1 << 20
BY_SPARK = ("parquet", "jsonl")
_PAGES = pa.schema([("url", pa.string()), ("html", pa.string())])


def read_archive(
    spark: SparkSession,
    paths: Sequence[str],
    file_format: str = "archive",
    *,
    url_field: str = "url",
    html_field: str = "html",
) -> DataFrame:
    """Return pages as rows with columns ``url`` and ``html``. Damage in files goes to the log of the task.

    Args:
        spark: The session.
        paths: Files, folders and patterns with ``*``. For formats that Spark does not read, these are local paths
            that exist on all machines, or addresses that fsspec knows (``s3://…``, ``hdfs://…``), whose files are
            copied to the machine that reads them.
        file_format: "parquet" or "jsonl", read by Spark with all other columns; a key of ``FORMATS``; or
            "archive" for all that :func:`read_pages` recognizes, one task per file.
        url_field: The column of the URL.
        html_field: The column of the page.

    Raises:
        SourceError: There is no such file, column or format.

    """
    if file_format in BY_SPARK:
        rows = spark.read.parquet(*paths) if file_format == "parquet" else spark.read.json(list(paths))
        missing = [name for name in (url_field, html_field) if name not in rows.columns]
        if missing:
            raise SourceError(
                f"no column {', '.join(missing)} in {', '.join(paths)}: name it with --url-field or --html-field"
            )
        others = [name for name in rows.columns if name not in (url_field, html_field)]
        return rows.select(col(url_field).alias("url"), col(html_field).alias("html"), *others)
    files = _files(paths)
    chosen = None if file_format == "archive" else file_format
    if chosen is not None and chosen not in FORMATS:
        raise SourceError(f"unknown format {chosen!r}; there are archive, {', '.join([*BY_SPARK, *FORMATS])}")

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                pages = _read_pages(files[number], chosen, url_field, html_field)
                yield from (_to_arrow(rows) for rows in _batches(pages))

    return spark.range(len(files), numPartitions=len(files)).mapInArrow(read, "url string, html string")


def _files(paths: Iterable[str]) -> list[str]:
    found: list[str] = []
    for path in paths:
        system, place = fsspec.core.url_to_fs(path)
        files = sorted(name for name in system.expand_path(place, recursive=True) if system.isfile(name))
        if not files:
            raise SourceError(f"{path} holds no files")
        found += [system.unstrip_protocol(name) if "://" in path else name for name in files]
    return found


def _read_pages(file: str, chosen: str | None, url_field: str, html_field: str) -> Iterator[tuple[str, str]]:
    reading = Reading()
    with _local(file) as path:
        try:
            for url, html in read_pages(
                path, reading=reading, file_format=chosen, url_field=url_field, html_field=html_field
            ):
                text = html if isinstance(html, str) else decode_html(html)
                yield without_lone_surrogates(url), without_lone_surrogates(text)
        except SourceError as error:
            logger.warning("%s is passed over: %s", file, error)
    if reading.damage or reading.skipped:
        logger.warning("%s: damage %s, passed over %s", file, dict(reading.damage), dict(reading.skipped))


@contextmanager
def _local(file: str) -> Iterator[Path]:
    """Yield the file on this machine: a copy if it lies elsewhere."""
    if "://" not in file:
        yield Path(file)
        return
    with tempfile.TemporaryDirectory(prefix="denoise-") as folder:
        path = Path(folder) / file.rpartition("/")[2]
        with fsspec.open(file, "rb") as source, path.open("wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        yield path


def _batches(pages: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Yield pages in batches of at most 64 and about a megabyte."""
    batch: list[tuple[str, str]] = []
    size = 0
    for page in pages:
        batch.append(page)
        size += len(page[1])
        if len(batch) >= _MAX_BATCH_PAGES or size >= _MAX_BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _to_arrow(rows: Sequence[tuple[str, str | bytes]]) -> pa.RecordBatch:
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=_PAGES)


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
        sites, keys = pa.array([one[0] for one in found], pa.string()), [one[1] for one in found]
        return pa.StructArray.from_arrays([sites, pa.array(keys, pa.int64())], fields=schema)

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
