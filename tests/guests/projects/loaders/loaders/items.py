import scrapy
from itemloaders.processors import Identity, Join, MapCompose, TakeFirst
from scrapy.loader import ItemLoader


def price_in_cents(value):
    return round(float(value.strip("£ ")) * 100)


class Book(scrapy.Item):
    url = scrapy.Field()
    title = scrapy.Field()
    cents = scrapy.Field()
    summary = scrapy.Field()
    words = scrapy.Field()
    text = scrapy.Field()


class BookLoader(ItemLoader):
    default_item_class = Book
    default_output_processor = TakeFirst()

    title_in = MapCompose(str.strip, str.title)
    cents_in = MapCompose(price_in_cents)
    summary_out = Join("\n")
    words_in = MapCompose(str.split)
    words_out = Identity()
