"""Pages built by JavaScript: those that have next to no text otherwise are rendered in a browser.

Needs ``pip install 'denoise-crawler[playwright]'`` and a Chromium: the system's, else the one that
``playwright install chromium`` downloads.
"""

BOT_NAME = "rendered_pages"
SPIDER_MODULES = ["denoise_crawler.spiders"]  # yours: ["rendered_pages.spiders"]
ADDONS = {
    "denoise_crawler.Addon": 300,
    "denoise_crawler.Rendering": 320,
}
CONCURRENT_REQUESTS = 4  # a browser tab each

DENOISE_RENDER = "needed"  # or "always", or "asked": requests with meta={"playwright": True} alone
DENOISE_RENDER_WAIT = 5  # seconds, at most, until the page's own requests are answered

FEEDS = {"rendered_pages.jsonl": {"format": "jsonlines", "encoding": "utf-8"}}
