"""Reads pages from files as a DataFrame: Parquet and JSON Lines by Spark, other formats by ``read_pages``."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import fsspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from denoise_crawler.errors import SourceError
from denoise_crawler.page.parsing import decode_html
from denoise_crawler.page.text import without_lone_surrogates
from denoise_crawler.reading import FORMATS, Reading, read_pages

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
    files: list[str] = []
    for path in paths:
        system, place = fsspec.core.url_to_fs(path)
        names = sorted(name for name in system.expand_path(place, recursive=True) if system.isfile(name))
        if not names:
            raise SourceError(f"{path} holds no files")
        files += [system.unstrip_protocol(name) if "://" in path else name for name in names]
    return files


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
