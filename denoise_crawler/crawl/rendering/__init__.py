"""Pages as a browser shows them, by scrapy-playwright: text, geometry and visibility."""
