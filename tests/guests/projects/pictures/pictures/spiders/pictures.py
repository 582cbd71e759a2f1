from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from pictures.items import Picture


class PicturesSpider(CrawlSpider):
    name = "pictures"
    rules = (
        Rule(LinkExtractor(restrict_css="li.next")),
        Rule(LinkExtractor(allow=r"/books/item/"), callback="parse_picture", follow=False),
    )

    def __init__(self, site, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.start_urls = [f"{site}/books/page/1/"]

    def parse_picture(self, response):
        picture = Picture()
        picture["url"] = response.url
        picture["title"] = response.css("h1::text").get()
        picture["image_urls"] = [
            response.urljoin(source) for source in response.css("main img::attr(src)").getall()
        ]
        return picture
