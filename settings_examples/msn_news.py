"""MSN news, politely: ``scrapy crawl msn_news`` in this repository uses these settings."""

BOT_NAME = "denoise_crawler"
SPIDER_MODULES = ["denoise_crawler.spiders"]
ADDONS = {"denoise_crawler.Addon": 300}
USER_AGENT = "denoise_crawler (+https://pypi.org/project/denoise-crawler/)"

# Uniform between these, once for each request; robots.txt is obeyed by the spider's own settings.
DENOISE_DELAY_MIN = 5.0
DENOISE_DELAY_MAX = 20.0

DENOISE_SHORT_SITES = "clean"  # a site that never gets there: "clean" with what is known, "raw", or "drop"

FEEDS = {"msn_news.jsonl": {"format": "jsonlines", "encoding": "utf-8"}}
