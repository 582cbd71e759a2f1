"""Items that a database library keeps books of: SQLAlchemy's rows and items made of Django's models."""

from __future__ import annotations

from typing import Any

import pytest

from denoise_crawler.crawl.pickled import pack, unpack
from tests.crawl.test_item_fields import PAGE, filler

sqlalchemy = pytest.importorskip("sqlalchemy")
orm = pytest.importorskip("sqlalchemy.orm")
django = pytest.importorskip("django")
pytest.importorskip("scrapy_djangoitem")


class Base(orm.DeclarativeBase):  # type: ignore[misc]
    pass


class Row(Base):
    __tablename__ = "rows"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    url: orm.Mapped[str]


class DataBase(orm.MappedAsDataclass, orm.DeclarativeBase):  # type: ignore[misc]
    pass


class DataRow(DataBase):
    __tablename__ = "data_rows"
    id: orm.Mapped[int] = orm.mapped_column(init=False, primary_key=True)
    url: orm.Mapped[str]
    text: orm.Mapped[str | None] = orm.mapped_column(default=None)


@pytest.fixture(scope="module")
def article() -> Any:
    """Return a class of items made of a Django model, as a project would have it in its items.py."""
    from django.conf import settings

    if not settings.configured:
        settings.configure(INSTALLED_APPS=[], USE_TZ=True)
        django.setup()
    from django.db import models
    from scrapy_djangoitem import DjangoItem

    class Article(models.Model):  # type: ignore[misc]
        url = models.CharField(max_length=9)
        text = models.TextField(blank=True)

        class Meta:
            app_label = "tests"

    class ArticleItem(DjangoItem):  # type: ignore[misc]
        django_model = Article

    ArticleItem.__qualname__ = "ArticleItem"
    globals()["ArticleItem"] = ArticleItem
    return ArticleItem


@pytest.mark.parametrize("item", [DataRow("u"), Row(url="u")])
def test_a_row_of_sqlalchemy_comes_back_and_can_be_saved(item: Any) -> None:
    found = unpack(pack(item))
    engine = sqlalchemy.create_engine("sqlite://")
    type(item).metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add(found)
        session.commit()
        assert session.scalars(sqlalchemy.select(type(item).url)).all() == ["u"]
    engine.dispose()


def test_a_row_of_sqlalchemy_is_filled_and_saved() -> None:
    filled = filler().fill(DataRow("u"), PAGE)
    engine = sqlalchemy.create_engine("sqlite://")
    DataBase.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add(filled.item)
        session.commit()
        assert session.scalars(sqlalchemy.select(DataRow.text)).all() == [PAGE.text]
    engine.dispose()


def test_an_item_of_a_django_model_comes_back_and_still_makes_its_model(article: Any) -> None:
    found = unpack(pack(article(url="a.example")))
    assert type(found) is article
    found = filler().fill(found, PAGE).item
    assert (found.instance.url, found.instance.text) == ("a.example", PAGE.text)
    assert found.is_valid()
