"""A project to deploy to scrapyd."""
