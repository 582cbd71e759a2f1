from web_poet import WebPage, field

from pageobjects.items import Book


class BookListPage(WebPage):
    def book_urls(self):
        return [self.urljoin(link) for link in self.css("li.entry a::attr(href)").getall()]

    def next_urls(self):
        return [self.urljoin(link) for link in self.css("li.next a::attr(href)").getall()]


class BookPage(WebPage[Book]):
    @field
    def url(self):
        return str(self.response.url)

    @field
    def title(self):
        return self.css("h1::text").get()

    @field
    def price(self):
        return self.css("p.price::text").get()
