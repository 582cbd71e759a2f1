"""An existing project, by item pipelines alone: for items that carry their page's HTML in a field.

StyleTreePipeline stands before all other pipelines, since items that wait pass it twice. What is promised of items
(docs/guarantees.md) holds as with the add-on, on Ctrl-C and CloseSpider as well.
"""

BOT_NAME = "existing_project"
SPIDER_MODULES = ["denoise_crawler.spiders"]  # yours: ["existing_project.spiders"]
FEED_EXPORT_ENCODING = "utf-8"
ROBOTSTXT_OBEY = True

ITEM_PIPELINES = {
    "denoise_crawler.pipelines.StyleTreePipeline": 100,
    "denoise_crawler.pipelines.DenoisePipeline": 200,
}
DENOISE_HTML_FIELD = "html"  # where your items hold the page, as str or bytes
DENOISE_URL_FIELD = "url"  # and its address
DENOISE_TEXT_FIELD = "text"  # where the clean text goes
