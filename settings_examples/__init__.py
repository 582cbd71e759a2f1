"""Complete settings modules to copy from; each is run by a test."""
