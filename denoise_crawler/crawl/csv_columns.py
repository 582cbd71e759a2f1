"""CSV feeds have a column for the text, whatever item comes first."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from scrapy.exporters import CsvItemExporter
from scrapy.extensions.feedexport import FeedExporter

from denoise_crawler.crawl.settings import DenoiseSettings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class TextCsvExporter(CsvItemExporter):
    """Scrapy's CSV exporter, for dicts of which only those with a page have the fields that we fill.

    Scrapy takes the columns of a feed without ``fields`` from its first item, and what others have besides is left
    out. Here these fields are among the columns of a feed that begins with a dict, the cell is empty there.
    """

    def __init__(self, file: IO[bytes], *arguments: Any, filled: tuple[str, ...], **options: Any) -> None:
        super().__init__(file, *arguments, **options)  # type: ignore[arg-type]
        self._filled = filled
        self._begun = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], *arguments: Any, **options: Any) -> Self:
        """Set up for the fields that this crawl fills."""
        settings = DenoiseSettings.from_settings(crawler.settings)
        filled = (settings.text_field, *settings.extra_fields.values())
        return cls(file, *arguments, filled=filled, **options)

    def export_item(self, item: Any) -> None:
        """Write ``item`` as a line, the first one with the heads of the columns before it."""
        if not self._begun and not self.fields_to_export and isinstance(item, dict):
            item = {**item, **{name: "" for name in self._filled if name not in item}}
        self._begun = True
        super().export_item(item)


def keep_text_column(crawler: Crawler) -> None:
    """Have the CSV feeds of ``crawler`` written by :class:`TextCsvExporter`, unless its project has another."""
    feeds = crawler.get_extension(FeedExporter)
    if feeds is not None and feeds.exporters.get("csv") is CsvItemExporter:
        feeds.exporters["csv"] = TextCsvExporter
