from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column


class Base(MappedAsDataclass, DeclarativeBase):
    pass


class Book(Base):
    __tablename__ = "book"

    url: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str]
    price: Mapped[float]
    text: Mapped[str | None] = mapped_column(default=None)


class Detail(Base):
    __tablename__ = "detail"

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    book_url: Mapped[str]
    name: Mapped[str]
    value: Mapped[str]
