"""The store of a crawl: its knowledge of each site, and the items that wait."""

from denoise_crawler.store.file import VERSION, is_store
from denoise_crawler.store.knowledge import SiteState, StoredSite
from denoise_crawler.store.recovery import open_store
from denoise_crawler.store.store import Store

__all__ = ["VERSION", "SiteState", "Store", "StoredSite", "is_store", "open_store"]
