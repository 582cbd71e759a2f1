"""LCS feature-tree matching: content is what a page does not share with a similar page of its site.

After Song, Zhi, Zhou, Luo and An, "Web page denoising by maximum similarity matching of feature trees based on
LCS", Video Engineering (电视技术) 35 (13), 2011.
"""

from denoise_crawler.errors import ReferencesFormatError
from denoise_crawler.methods.feature_tree.content import Content, find_content
from denoise_crawler.methods.feature_tree.nodes import FeatureTree, Target, read
from denoise_crawler.methods.feature_tree.references import References

__all__ = ["Content", "FeatureTree", "References", "ReferencesFormatError", "Target", "find_content", "read"]
