"""MSN news, politely: ``scrapy crawl msn_news`` in this repository uses these settings."""

BOT_NAME = "denoise_crawler"
SPIDER_MODULES = ["denoise_crawler.spiders"]
ADDONS = {"denoise_crawler.Addon": 300}
USER_AGENT = "denoise_crawler (+https://pypi.org/project/denoise-crawler/)"

# Gaps in seconds are drawn uniformly between these. The spider's own settings make it obey robots.txt.
DENOISE_DELAY_MIN = 5.0
DENOISE_DELAY_MAX = 20.0

DENOISE_SHORT_SITES = "clean"  # items of sites with too few pages: "clean", "raw" or "drop"

FEEDS = {"msn_news.jsonl": {"format": "jsonlines", "encoding": "utf-8"}}
