BOT_NAME = "rows"

SPIDER_MODULES = ["rows.spiders"]
NEWSPIDER_MODULE = "rows.spiders"

ROBOTSTXT_OBEY = True
FEED_EXPORT_ENCODING = "utf-8"

ITEM_PIPELINES = {"rows.pipelines.RowsPipeline": 300}
DATABASE = "sqlite:///books.sqlite"
