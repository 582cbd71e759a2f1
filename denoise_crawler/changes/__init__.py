"""What changed: fingerprints of pages, their copies on a site, and what a page said when it was last seen."""

MAX_PAGES = 200_000  # whose fingerprints are kept in a file
