from sqlalchemy import Column, Integer, String, Text
from sqlalchemy.orm import declarative_base

Base = declarative_base()


class BookRow(Base):
    __tablename__ = "book"

    url = Column(String, primary_key=True)
    title = Column(String(80))
    cents = Column(Integer)
    words = Column(Integer)
    summary = Column(Text)
    text = Column(Text)
