BOT_NAME = "pageobjects"

SPIDER_MODULES = ["pageobjects.spiders"]
NEWSPIDER_MODULE = "pageobjects.spiders"

ROBOTSTXT_OBEY = True
FEED_EXPORT_ENCODING = "utf-8"

ADDONS = {"scrapy_poet.Addon": 300}
SCRAPY_POET_DISCOVER = ["pageobjects.pages"]
