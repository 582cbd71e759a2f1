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

# At least as many sites as are crawled in turn. With fewer, nearly each page first loads its site from the store,
# which can double the CPU time of the crawl.
DENOISE_SITES_IN_MEMORY = 200
# A site's turn comes round later than its polite gap says. In the default of 30 s few sites show enough pages.
DENOISE_WARMUP_SECONDS = 120  # without a new page of the site
DENOISE_STORE = "broad_crawl.sqlite"

FEEDS = {"broad_crawl.jsonl": {"format": "jsonlines", "encoding": "utf-8"}}
