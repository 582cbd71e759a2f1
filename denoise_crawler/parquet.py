"""A feed exporter for Parquet: ``FEED_EXPORTERS = {"parquet": "denoise_crawler.parquet.ParquetItemExporter"}``."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from datetime import date, datetime, timezone
from typing import IO, Any

import msgspec
from scrapy.exporters import BaseItemExporter
from scrapy.utils.serialize import ScrapyJSONEncoder

from denoise_crawler.crawl.settings import abort_on_missing_extra
from denoise_crawler.errors import AppendError

with abort_on_missing_extra("parquet"):
    import pyarrow as pa
    import pyarrow.parquet as pq


ROWS_PER_GROUP = 2_000
_COLUMN_TYPES: dict[str, Any] = {
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bytes": pa.binary(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
    "time in UTC": pa.timestamp("us", tz="UTC"),
    "text": pa.string(),
}
_PARSERS = {"date": date.fromisoformat, "time": datetime.fromisoformat, "time in UTC": datetime.fromisoformat}
_to_json = ScrapyJSONEncoder(ensure_ascii=False).encode


class ParquetItemExporter(BaseItemExporter):
    """Writes all items into one Parquet file when the feed closes.

    There is a column for each field of any item, in order of appearance, or for each of FEED_EXPORT_FIELDS. Its
    type is the common type of its values: bool, int, float, str, bytes, date or datetime; int and float together
    are float. If the types differ, or the values are lists, dicts or items, the column is text: strings as they
    are, all else as JSON. Until the feed closes, the items are in a temporary file.

    Args:
        file: The file of the feed.
        compression: A compression of pyarrow.
        rows_per_group: How many rows are in memory at a time.
        options: The options of Scrapy's exporters.
    """

    def __init__(
        self, file: IO[bytes], *, compression: str = "zstd", rows_per_group: int = ROWS_PER_GROUP, **options: Any
    ) -> None:
        super().__init__(dont_fail=True, **options)
        self._file = file
        self._compression = compression
        self._rows_per_group = rows_per_group
        self._spool: IO[bytes] = io.BytesIO()
        self._kinds: dict[str, set[str]] = {}

    def start_exporting(self) -> None:
        """Open the temporary file; raise AppendError if the file of the feed is not empty."""
        if self._file.seekable() and self._file.tell():
            name = getattr(self._file, "name", "the feed's file")
            raise AppendError(f"{name} is there already, and Parquet cannot be appended to: use -O, or overwrite")
        self._spool = tempfile.TemporaryFile()  # noqa: SIM115 closed in finish_exporting

    def export_item(self, item: Any) -> None:
        """Keep ``item`` for the file; raise TypeError for a value that no feed can write."""
        row = {}
        for name, value in self.get_serialized_fields(item, include_empty=True):
            kinds = self._kinds.setdefault(name, set())
            if value is not None:
                kind, row[name] = _to_plain(value)
                kinds.add(kind)
        packed = msgspec.msgpack.encode(row)
        self._spool.write(len(packed).to_bytes(8, "little") + packed)

    def finish_exporting(self) -> None:
        """Write the file."""
        kinds = {name: _column_kind(found) for name, found in self._kinds.items()}
        schema = pa.schema([(name, _COLUMN_TYPES[kind]) for name, kind in kinds.items()])
        with self._spool, pq.ParquetWriter(self._file, schema, compression=self._compression) as writer:
            for rows in self._read_groups():
                columns = [
                    pa.array([_from_plain(row.get(name), kind) for row in rows], _COLUMN_TYPES[kind])
                    for name, kind in kinds.items()
                ]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))

    def _read_groups(self) -> Iterator[list[dict[str, Any]]]:
        self._spool.seek(0)
        rows: list[dict[str, Any]] = []
        while size := self._spool.read(8):
            rows.append(msgspec.msgpack.decode(self._spool.read(int.from_bytes(size, "little"))))
            if len(rows) == self._rows_per_group:
                yield rows
                rows = []
        if rows:
            yield rows


def _to_plain(value: Any) -> tuple[str, Any]:
    """Return the kind of ``value``, and the value as the temporary file holds it."""
    if isinstance(value, str):
        return "text", value.encode("utf-8", "replace").decode()
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return "time", value.isoformat()
        return "time in UTC", value.astimezone(timezone.utc).isoformat()
    if isinstance(value, date):
        return "date", value.isoformat()
    plain = type(value).__name__
    if plain in ("bool", "float", "bytes") or (plain == "int" and -(1 << 63) <= value < 1 << 63):
        return plain, value
    return "text", _to_json(value).encode("utf-8", "replace").decode()


def _column_kind(kinds: set[str]) -> str:
    if len(kinds) == 1:
        return next(iter(kinds))
    return "float" if kinds == {"int", "float"} else "text"


def _from_plain(plain: Any, kind: str) -> Any:
    if plain is None:
        return None
    if kind in _PARSERS:
        return _PARSERS[kind](plain)
    if kind == "float":
        return float(plain)
    if kind == "text" and not isinstance(plain, str):
        return plain.decode("utf-8", "replace") if isinstance(plain, bytes) else _to_json(plain)
    return plain
