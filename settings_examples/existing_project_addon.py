"""An existing project, by the add-on: its spiders stay as they are.

Their items need a ``text`` field (or whatever DENOISE_TEXT_FIELD names) that is empty or missing.
"""

BOT_NAME = "existing_project"
SPIDER_MODULES = ["denoise_crawler.spiders"]  # yours: ["existing_project.spiders"]
FEED_EXPORT_ENCODING = "utf-8"
ROBOTSTXT_OBEY = True

# The one line. For gaps of 5-20 s between two requests to a host add "denoise_crawler.Politeness": 310.
ADDONS = {"denoise_crawler.Addon": 300}

DENOISE_EXTRA_FIELDS = {"noise_ratio": "noise"}  # besides the text, for items that can hold it
