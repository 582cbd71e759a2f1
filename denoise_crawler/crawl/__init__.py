"""Connects the denoiser to Scrapy: add-on, warm-up, politeness."""
