"""Examples: a fictional news site, a project for scrapyd, a notebook."""
