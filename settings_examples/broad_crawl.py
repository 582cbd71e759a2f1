"""Many sites in one crawl: each is learned by itself, each host is asked politely."""

BOT_NAME = "broad_crawl"
SPIDER_MODULES = ["denoise_crawler.spiders"]  # yours beside it: ["broad_crawl.spiders", …]
ADDONS = {"denoise_crawler.Addon": 300, "denoise_crawler.Politeness": 310}
USER_AGENT = "denoise_crawler (+https://pypi.org/project/denoise-crawler/)"

# One request at a time a host; so many hosts at once.
CONCURRENT_REQUESTS = 100
REACTOR_THREADPOOL_MAXSIZE = 20
DOWNLOAD_TIMEOUT = 30
RETRY_TIMES = 1
COOKIES_ENABLED = False
LOG_LEVEL = "INFO"

DENOISE_SITES_IN_MEMORY = 200  # the trees of the others lie in the store
DENOISE_STORE = "broad_crawl.sqlite"

FEEDS = {"broad_crawl.jsonl": {"format": "jsonlines", "encoding": "utf-8"}}
