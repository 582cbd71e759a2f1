"""What can go wrong while a crawl runs, done to real crawls of the bundled site."""
