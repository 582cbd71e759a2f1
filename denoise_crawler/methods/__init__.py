"""The methods that find noise: a folder or file each, and the table of them."""

from __future__ import annotations

from denoise_crawler.errors import MethodError
from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.guard import apply_guard
from denoise_crawler.methods.registry import DEFAULT_METHOD, METHODS, MethodChoice

__all__ = ["DEFAULT_METHOD", "METHODS", "Judgement", "Method", "MethodChoice", "MethodError", "apply_guard"]
