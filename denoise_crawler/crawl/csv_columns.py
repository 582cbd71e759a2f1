"""Gives CSV feeds a column for the text, whichever item comes first."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from scrapy.exporters import CsvItemExporter

from denoise_crawler.crawl.scrapy_internals import replace_exporter
from denoise_crawler.crawl.settings import DenoiseSettings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class TextCsvExporter(CsvItemExporter):
    """Scrapy's CSV exporter, with columns for the fields that we fill.

    Without ``fields``, Scrapy takes the columns of a feed from its first item and leaves out other fields of later
    items. If that item is a dict without a page, it lacks the fields that we fill; here they get columns all the
    same, and its cells are empty.
    """

    def __init__(self, file: IO[bytes], *arguments: Any, filled_fields: tuple[str, ...], **options: Any) -> None:
        super().__init__(file, *arguments, **options)  # type: ignore[arg-type]
        self._filled_fields = filled_fields
        self._has_rows = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], *arguments: Any, **options: Any) -> Self:
        """Make the exporter for the fields that this crawl fills."""
        settings = DenoiseSettings.from_settings(crawler.settings)
        filled_fields = (settings.text_field, *settings.extra_fields.values())
        return cls(file, *arguments, filled_fields=filled_fields, **options)

    def export_item(self, item: Any) -> None:
        """Write ``item`` as a row, before the first one the header."""
        if not self._has_rows and not self.fields_to_export and isinstance(item, dict):
            item = {**item, **{name: "" for name in self._filled_fields if name not in item}}
        self._has_rows = True
        super().export_item(item)


def keep_text_column(crawler: Crawler) -> None:
    """Let :class:`TextCsvExporter` write the CSV feeds of a crawl, unless its project has another exporter."""
    replace_exporter(crawler, "csv", ours=TextCsvExporter, theirs=CsvItemExporter)
