import scrapy

from loaders.items import BookLoader


class BooksSpider(scrapy.Spider):
    name = "books"

    def __init__(self, site, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.start_urls = [f"{site}/books/page/1/"]

    def parse(self, response):
        yield from response.follow_all(css="li.entry a", callback=self.parse_book)
        yield from response.follow_all(css="li.next a", callback=self.parse)

    def parse_book(self, response):
        loader = BookLoader(selector=response)
        loader.add_value("url", response.url)
        loader.add_css("title", "h1::text")
        loader.add_css("cents", "p.price::text")
        loader.add_css("summary", "div.story p::text")
        loader.add_css("words", "div.story p::text")
        return loader.load_item()
