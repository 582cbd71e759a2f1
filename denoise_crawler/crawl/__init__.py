"""How Scrapy meets the denoiser: add-on, warm-up, politeness."""
