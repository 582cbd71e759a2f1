"""Pipelines as people write them: state that is used, rows that are written, something that is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection
from item_kinds import DeclarativeRow, MappedBase, StoryDjangoItem, StoryModel
from itemadapter import ItemAdapter
from order import ORDER
from recording import Record, key, value
from scrapy import Request
from scrapy.crawler import Crawler
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

if TYPE_CHECKING:
    from typing_extensions import Self


class Arriving:
    """Writes down the order in which items come to the project's own pipelines."""

    def process_item(self, item: Any) -> Any:
        Record.write("arrived", **key(item))
        return item


class Remembering:
    """Uses what only the ``__init__`` of an item has made."""

    def process_item(self, item: Any) -> Any:
        if hasattr(type(item), "remember"):
            item.remember()
        return item


class Downloading:
    """Awaits a download for some items."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        if address := value(item, "extra_url"):
            assert self.crawler.engine is not None
            response = await self.crawler.engine.download_async(Request(address, dont_filter=True))
            ItemAdapter(item)["extra"] = response.text
        return item


class Storing:
    """Writes rows: of SQLAlchemy and of Django."""

    def open_spider(self) -> None:
        self.engine = create_engine(f"sqlite:///{ORDER['rows']}")
        for base in (MappedBase, DeclarativeRow):
            base.metadata.create_all(self.engine)
        if StoryModel._meta.db_table not in connection.introspection.table_names():
            with connection.schema_editor() as editor:
                editor.create_model(StoryModel)

    def process_item(self, item: Any) -> Any:
        if isinstance(item, (MappedBase, DeclarativeRow)):
            with Session(self.engine, expire_on_commit=False) as session:
                session.add(item)
                session.commit()
        if isinstance(item, StoryDjangoItem):
            item.save()
        return item

    def close_spider(self) -> None:
        self.engine.dispose()
        connection.close()
