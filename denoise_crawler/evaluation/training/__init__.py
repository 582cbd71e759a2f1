"""How the weights of ``fusion`` are made from gold pages: ``python -m denoise_crawler.evaluation.training``."""
