"""The item pipelines: two learn a site and remove its noise, one joins the parts of an article."""

from denoise_crawler.pipelines.article_parts import ArticlePartsPipeline, following_part
from denoise_crawler.pipelines.item_pages import DenoisePipeline, StyleTreePipeline

__all__ = ["ArticlePartsPipeline", "DenoisePipeline", "StyleTreePipeline", "following_part"]
