import scrapy


class BooksSpider(scrapy.Spider):
    name = "books"

    def __init__(self, site, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.start_urls = [f"{site}/books/page/1/"]

    def parse(self, response):
        yield from response.follow_all(css="li.entry a", callback=self.parse_book)
        yield from response.follow_all(css="li.next a", callback=self.parse)

    def parse_book(self, response):
        rows = response.css("table tr")
        yield {
            "url": response.url,
            "title": response.css("h1::text").get(),
            "price": float(response.css("p.price::text").re_first(r"[\d.]+")),
            "details": {row.css("th::text").get(): row.css("td::text").get() for row in rows},
        }
