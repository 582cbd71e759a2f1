"""Measures, and pages with gold text to measure on."""
