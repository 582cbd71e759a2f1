"""The item pipelines, which learn a site and remove its noise."""

from denoise_crawler.pipelines.denoise_pipeline import DenoisePipeline, StyleTreePipeline

__all__ = ["DenoisePipeline", "StyleTreePipeline"]
