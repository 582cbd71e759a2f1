"""An existing project, with the add-on: its spiders do not change.

Their items need an empty field ``text`` (or the one that DENOISE_TEXT_FIELD names); in dicts it may be missing.
"""

BOT_NAME = "existing_project"
SPIDER_MODULES = ["denoise_crawler.spiders"]  # yours: ["existing_project.spiders"]
FEED_EXPORT_ENCODING = "utf-8"
ROBOTSTXT_OBEY = True

# The one line. For gaps of 5-20 s between two requests to a host add "denoise_crawler.Politeness": 310.
ADDONS = {"denoise_crawler.Addon": 300}

DENOISE_EXTRA_FIELDS = {"noise_ratio": "noise"}  # filled as well as the text, if the item has the field
