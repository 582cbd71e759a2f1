"""Pages as a browser draws them, by scrapy-playwright: their text, their geometry, what of them is hidden."""
