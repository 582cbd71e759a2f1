"""Learns sites: one tree per page, merged by site."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import array, broadcast, col, lit

from denoise_crawler.denoiser import Cleaning
from denoise_crawler.errors import WorkerError
from denoise_crawler.methods import DEFAULT_METHOD, MethodChoice
from denoise_crawler.page.site import site_of
from denoise_crawler.spark.archive import KEY, LIMIT, PAGES, SITE, learning_limits, with_site_and_key
from denoise_crawler.spark.page_handler import PageHandler, group_and_sort, grouped, page_worker
from denoise_crawler.workers import Limits

TREES = "site string, method string, pages bigint, failed bigint, failures array<string>, knowledge binary"
_ARROW = pa.schema(
    [
        ("site", pa.string()),
        ("method", pa.string()),
        ("pages", pa.int64()),
        ("failed", pa.int64()),
        ("failures", pa.list_(pa.string())),
        ("knowledge", pa.binary()),
    ]
)
_MAX_EXAMPLES = 3


def learn(
    df: DataFrame,
    method: str | MethodChoice = DEFAULT_METHOD,
    *,
    site: Callable[[str], str] = site_of,
    limits: Limits | None = None,
) -> DataFrame:
    """Learn each site from its pages, which may be in any order and partition.

    A method keeps the pages of a site with the lowest hashes of their URLs. These are found first, from the URLs
    alone, so that no other pages are parsed. The result is lazy: write or ``persist`` it before use.

    Args:
        df: Pages, with columns ``url`` and ``html`` (text or bytes).
        method: The name of the method, or a choice of one with its options.
        site: Returns the site of a URL.
        limits: The limits of one page.

    Returns:
        One row per ``site``: the ``method`` (its store key), the number of ``pages``, how many ``failed``, some
        of the ``failures``, and the ``knowledge``: bytes for the method's ``merge_bytes``.

    Raises:
        MethodError: The method or an option is unknown.
        ValueError: The method does not learn, or a column is missing.

    """
    choice = MethodChoice.of(method)
    if not choice.learns:
        raise ValueError(f"the method {choice.name} does not learn sites: clean the pages without trees")
    require_columns(df, "url", "html")
    found = learning_limits(df, site, choice.pages_kept)
    pages = with_site_and_key(df.select("url", "html"), site)
    barred = broadcast(found.where(col(LIMIT).isNotNull()).select(SITE, LIMIT))
    wanted = pages.join(barred, SITE, "left").where(col(LIMIT).isNull() | (col(KEY) <= col(LIMIT)))
    cleaning, within = Cleaning(choice), limits or Limits()

    def map_pages(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _one_page_trees(batches, cleaning, within)

    def reduce_sites(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _merge_sites(batches, choice)

    trees = wanted.select(SITE, "url", "html").mapInArrow(map_pages, TREES)
    return group_and_sort(trees.unionByName(_page_counts(found)), ["site"]).mapInArrow(reduce_sites, TREES)


def _page_counts(found: DataFrame) -> DataFrame:
    """Return the number of pages of each site as rows of ``TREES``."""
    return found.select(
        col(SITE).alias("site"),
        lit("").alias("method"),
        col(PAGES).alias("pages"),
        lit(0).cast("bigint").alias("failed"),
        array().cast("array<string>").alias("failures"),
        lit(None).cast("binary").alias("knowledge"),
    )


def require_columns(df: DataFrame, *names: str) -> None:
    """Raise ValueError unless ``df`` has the columns."""
    missing = [name for name in names if name not in df.columns]
    if missing:
        raise ValueError(f"no column {', '.join(missing)}; there are {', '.join(df.columns)}: rename yours")


def _one_page_trees(
    batches: Iterator[pa.RecordBatch], cleaning: Cleaning, limits: Limits
) -> Iterator[pa.RecordBatch]:
    worker = page_worker(cleaning, limits)
    for batch in batches:
        rows = []
        for row in batch.to_pylist():
            site, url, html = row[SITE], row["url"] or "", row["html"] or ""
            found = {"site": site, "method": "", "pages": 0, "failed": 0, "failures": [], "knowledge": None}
            try:
                found["knowledge"] = worker.call(PageHandler.one_page_tree, site, url, html) or None
            except WorkerError as error:
                found.update(failed=1, failures=[f"{url}: {error}"])
            if found["knowledge"] or found["failed"]:
                rows.append(found)
        yield pa.RecordBatch.from_pylist(rows, _ARROW)


def _merge_sites(batches: Iterator[pa.RecordBatch], choice: MethodChoice) -> Iterator[pa.RecordBatch]:
    key = choice.key
    for site, rows in grouped(batches, "site"):
        found = _merge_site(rows, choice)
        yield pa.RecordBatch.from_pylist([{"site": site, "method": key, **found}], _ARROW)


def _merge_site(rows: Iterator[dict[str, Any]], choice: MethodChoice) -> dict[str, Any]:
    method = choice.new()
    pages = failed = 0
    failures: list[str] = []
    for row in rows:
        pages += row["pages"]
        failed += row["failed"]
        failures = sorted([*failures, *row["failures"]])[:_MAX_EXAMPLES]
        if row["knowledge"]:
            method.merge_bytes(row["knowledge"])
    knowledge = method.to_bytes() if method.pages_known else None
    return {"pages": pages, "failed": failed, "failures": failures, "knowledge": knowledge}
