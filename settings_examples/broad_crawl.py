"""Many sites in one crawl: each site is learned separately, with polite gaps for each host."""

BOT_NAME = "broad_crawl"
SPIDER_MODULES = ["denoise_crawler.spiders"]  # add yours: ["broad_crawl.spiders", …]
ADDONS = {"denoise_crawler.Addon": 300, "denoise_crawler.Politeness": 310}
USER_AGENT = "denoise_crawler (+https://pypi.org/project/denoise-crawler/)"

# One request to a host at a time, so many hosts in parallel.
CONCURRENT_REQUESTS = 100
REACTOR_THREADPOOL_MAXSIZE = 20
DOWNLOAD_TIMEOUT = 30
RETRY_TIMES = 1
COOKIES_ENABLED = False
LOG_LEVEL = "INFO"

DENOISE_SITES_IN_MEMORY = 200  # the knowledge of other sites is read from the store
DENOISE_STORE = "broad_crawl.sqlite"

FEEDS = {"broad_crawl.jsonl": {"format": "jsonlines", "encoding": "utf-8"}}
