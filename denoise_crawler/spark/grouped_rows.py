"""Rows grouped by a shuffle and read as a stream."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame


def group_and_sort(rows: DataFrame, columns: Sequence[str], then: Sequence[Column] = ()) -> DataFrame:
    """Bring rows with equal ``columns`` into one partition, next to each other, sorted by ``then``."""
    return rows.repartition(*(rows[name] for name in columns)).sortWithinPartitions(*columns, *then)


def grouped(batches: Iterator[pa.RecordBatch], column: str) -> Iterator[tuple[Any, Iterator[dict[str, Any]]]]:
    """Yield each value of ``column`` with its rows, which are adjacent; only a batch is in memory."""
    rows = (row for batch in batches for row in batch.to_pylist())
    return groupby(rows, key=itemgetter(column))
