"""Pages as a browser shows them, by scrapy-playwright: text, geometry and visibility."""

from denoise_crawler.contrib.rendering.addon import Rendering

__all__ = ["Rendering"]
