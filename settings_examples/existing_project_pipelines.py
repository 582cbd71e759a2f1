"""An existing project, with item pipelines only: for items that carry their page's HTML in a field.

StyleTreePipeline must come before all other pipelines, because items that wait pass it twice. The promises of
docs/guarantees.md hold as with the add-on, also on Ctrl-C and CloseSpider.
"""

BOT_NAME = "existing_project"
SPIDER_MODULES = ["denoise_crawler.spiders"]  # yours: ["existing_project.spiders"]
FEED_EXPORT_ENCODING = "utf-8"
ROBOTSTXT_OBEY = True

ITEM_PIPELINES = {
    "denoise_crawler.pipelines.StyleTreePipeline": 100,
    "denoise_crawler.pipelines.DenoisePipeline": 200,
}
DENOISE_HTML_FIELD = "html"  # the field that holds the page, as str or bytes
DENOISE_URL_FIELD = "url"  # the field that holds its URL
DENOISE_TEXT_FIELD = "text"  # the field that gets the clean text
