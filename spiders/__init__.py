"""The spiders: ``msn_news`` and ``site``, for any site."""
