BOT_NAME = "pictures"

SPIDER_MODULES = ["pictures.spiders"]
NEWSPIDER_MODULE = "pictures.spiders"

ROBOTSTXT_OBEY = True
FEED_EXPORT_ENCODING = "utf-8"

ITEM_PIPELINES = {"scrapy.pipelines.images.ImagesPipeline": 1}
IMAGES_STORE = "files"
IMAGES_THUMBS = {"small": (4, 4)}
