"""``scrapy denoise …``: batch work on pages from disk."""
