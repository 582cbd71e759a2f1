"""Pages built by JavaScript: a browser renders those that have almost no text without it.

This needs ``pip install 'denoise-crawler[playwright]'`` and a Chromium: the system's, else the one that
``playwright install chromium`` downloads.
"""

BOT_NAME = "rendered_pages"
SPIDER_MODULES = ["denoise_crawler.spiders"]  # yours: ["rendered_pages.spiders"]
ADDONS = {
    "denoise_crawler.Addon": 300,
    "denoise_crawler.contrib.rendering.Rendering": 320,
}
CONCURRENT_REQUESTS = 4  # each uses a browser tab

DENOISE_RENDER = "needed"  # or "always", or "asked": only requests with meta={"playwright": True}
DENOISE_RENDER_WAIT = 5  # seconds that a loaded page may wait for its own requests

FEEDS = {"rendered_pages.jsonl": {"format": "jsonlines", "encoding": "utf-8"}}
