"""What a judged page becomes: clean text, clean HTML."""
