"""Item pipelines that learn a site and strip its noise."""

from denoise_crawler.pipelines.denoise import DenoisePipeline
from denoise_crawler.pipelines.style_tree import StyleTreePipeline

__all__ = ["DenoisePipeline", "StyleTreePipeline"]
