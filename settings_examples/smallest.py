"""The smallest settings: every item of every spider gets the clean text of its page."""

SPIDER_MODULES = ["denoise_crawler.spiders"]  # yours beside it: ["myproject.spiders", …]
ADDONS = {"denoise_crawler.Addon": 300}
