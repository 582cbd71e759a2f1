"""The store of a crawl: its knowledge of each site, and the items that wait."""

from __future__ import annotations

from denoise_crawler.errors import DamagedStoreError, StoreError
from denoise_crawler.store.file import VERSION
from denoise_crawler.store.store import SiteState, Store

__all__ = ["VERSION", "DamagedStoreError", "SiteState", "Store", "StoreError"]
