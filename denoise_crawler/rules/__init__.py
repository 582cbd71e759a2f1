"""Site rules: what people write, or what was learned, about where the content of a site's pages stands."""

from __future__ import annotations

from denoise_crawler.rules.folder import NO_RULES, SiteRules

__all__ = ["NO_RULES", "SiteRules"]
