"""The kept content of a page as typed blocks, and what writes them: Markdown, HTML, dicts, chunks."""
