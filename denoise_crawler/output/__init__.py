"""The outputs of a judged page: clean text, Markdown, HTML, painted pages, explanations."""
