"""What the methods are worth and what they cost, on real pages (``DENOISE_CORPUS``)."""
