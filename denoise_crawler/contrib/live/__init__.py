"""The live page: what a running crawl has learned, cleaned and removed, at http://127.0.0.1:PORT/denoise."""

from denoise_crawler.contrib.live.page import LivePage

__all__ = ["LivePage"]
