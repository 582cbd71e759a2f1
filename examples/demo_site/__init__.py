"""The Harbour Ledger, a fictional news site, its server and a crawl of it: ``python -m examples.demo_site``."""
