import attrs


@attrs.define
class Book:
    url: str
    title: str
    price: str
    text: str = ""
