BOT_NAME = "loaders"

SPIDER_MODULES = ["loaders.spiders"]
NEWSPIDER_MODULE = "loaders.spiders"

ROBOTSTXT_OBEY = True
FEED_EXPORT_ENCODING = "utf-8"

ITEM_PIPELINES = {"loaders.pipelines.RequiredFields": 100, "loaders.pipelines.DatabasePipeline": 300}
DATABASE = "sqlite:///books.sqlite"
