"""The settings of each job."""

BOT_NAME = "stories"
SPIDER_MODULES = ["stories.spiders"]
ADDONS = {"denoise_crawler.Addon": 300, "denoise_crawler.Politeness": 310}
ROBOTSTXT_OBEY = True

# One store for all jobs, in the folder where scrapyd was started: what one job learns, the next one knows.
DENOISE_STORE = "denoise.sqlite"
