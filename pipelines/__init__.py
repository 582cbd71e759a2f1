"""The item pipelines: two learn a site and remove its noise, one joins the parts of an article."""

from denoise_crawler.pipelines.item_pages import DenoisePipeline, StyleTreePipeline

__all__ = ["DenoisePipeline", "StyleTreePipeline"]
