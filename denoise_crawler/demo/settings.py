"""The settings of the demo crawl: a project with the add-on and a short delay."""

BOT_NAME = "denoise_demo"
SPIDER_MODULES = ["denoise_crawler.spiders"]
ADDONS = {"denoise_crawler.Addon": 300}
EXTENSIONS = {"denoise_crawler.demo.stats_file.StatsFile": 0}
REMOTE_CONTROL_ENABLED = False
TELNETCONSOLE_ENABLED = False
LOG_LEVEL = "INFO"
CONCURRENT_ITEMS = 4  # a page has one item

DENOISE_DELAY_MIN = 0.05
DENOISE_DELAY_MAX = 0.2
