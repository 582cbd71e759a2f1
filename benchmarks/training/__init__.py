"""How the weights of ``fusion`` are made from gold pages: ``python -m benchmarks.training``."""
