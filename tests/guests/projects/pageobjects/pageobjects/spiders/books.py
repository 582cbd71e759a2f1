import scrapy

from pageobjects.items import Book
from pageobjects.pages import BookListPage, BookPage


class BooksSpider(scrapy.Spider):
    name = "books"

    def __init__(self, site, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.start_urls = [f"{site}/books/page/1/"]

    def parse(self, response, page: BookListPage):  # noqa: ARG002
        for url in page.book_urls():
            yield scrapy.Request(url, callback=self.parse_book)
        for url in page.next_urls():
            yield scrapy.Request(url, callback=self.parse)

    async def parse_book(self, response, page: BookPage):  # noqa: ARG002
        item = await page.to_item()
        assert isinstance(item, Book)
        yield item
