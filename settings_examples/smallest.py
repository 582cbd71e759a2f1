"""The smallest settings: every item of every spider gets the clean text of its page."""

SPIDER_MODULES = ["denoise_crawler.spiders"]  # add yours: ["myproject.spiders", …]
ADDONS = {"denoise_crawler.Addon": 300}
