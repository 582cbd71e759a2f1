"""Site rules: selectors that a user writes for the content of a site, and for what is dropped."""

from __future__ import annotations

from denoise_crawler.rules.folder import NO_RULES, SiteRules

__all__ = ["NO_RULES", "SiteRules"]
