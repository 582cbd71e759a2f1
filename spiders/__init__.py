"""The spiders: ``site`` for any site, ``msn_news`` for MSN."""
