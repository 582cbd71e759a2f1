"""The site style tree of Yi, Liu & Li (KDD 2003): what a site's pages share, and how important it is."""

from denoise_crawler.methods.style_tree.method import SiteStyleTree

__all__ = ["SiteStyleTree"]
