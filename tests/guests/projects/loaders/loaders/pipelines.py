from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker

from loaders.models import Base, BookRow


class RequiredFields:
    def process_item(self, item):
        if not item.get("title"):
            raise DropItem("no title")
        return item


class DatabasePipeline:
    def __init__(self, address):
        self.engine = create_engine(address)
        self.session = sessionmaker(bind=self.engine)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings["DATABASE"])

    def open_spider(self):
        Base.metadata.create_all(self.engine)

    def process_item(self, item):
        values = ItemAdapter(item).asdict()
        values["words"] = len(values["words"])
        session = self.session()
        try:
            session.add(BookRow(**values))
            session.commit()
        except Exception:
            session.rollback()
            raise
        finally:
            session.close()
        return item

    def close_spider(self):
        self.engine.dispose()
