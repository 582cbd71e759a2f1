"""The site style tree of Yi, Liu & Li (KDD 2003): what a site's pages share, and how much it matters."""

from denoise_crawler.errors import TreeFormatError
from denoise_crawler.methods.style_tree.tree import SiteStyleTree, Standing

__all__ = ["SiteStyleTree", "Standing", "TreeFormatError"]
