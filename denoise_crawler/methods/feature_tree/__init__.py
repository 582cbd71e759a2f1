"""LCS feature-tree matching: what a page does not share with a similar page of its site is content.

After Song, Zhi, Zhou, Luo and An, "Web page denoising by maximum similarity matching of feature trees based on
LCS", Video Engineering (电视技术) 35 (13), 2011.
"""
