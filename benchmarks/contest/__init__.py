"""Compares methods and other extractors, each in a process of its own: quality, time and memory."""
