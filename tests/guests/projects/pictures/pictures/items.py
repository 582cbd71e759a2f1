import scrapy


class Picture(scrapy.Item):
    url = scrapy.Field()
    title = scrapy.Field()
    text = scrapy.Field()
    image_urls = scrapy.Field()
    images = scrapy.Field()
