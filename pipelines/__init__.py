"""The item pipelines: one learns the page of an item and parks the item, one fills it."""

from denoise_crawler.pipelines.item_pages import DenoisePipeline, StyleTreePipeline

__all__ = ["DenoisePipeline", "StyleTreePipeline"]
