from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from rows.models import Base


class RowsPipeline:
    def __init__(self, address):
        self.engine = create_engine(address)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings["DATABASE"])

    def open_spider(self):
        Base.metadata.create_all(self.engine)

    def process_item(self, item):
        with Session(self.engine, expire_on_commit=False) as session:
            session.add(item)
            session.commit()
        return item

    def close_spider(self):
        self.engine.dispose()
