"""The worker processes of a crawl: each learns and cleans the pages of its share of the sites."""
