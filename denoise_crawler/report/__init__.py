"""The report: a static site that shows what is known of sites and what was removed from their pages."""

from __future__ import annotations

from denoise_crawler.report.figures import RunFigures
from denoise_crawler.report.report_writer import Bounds, Plan, write_report

__all__ = ["Bounds", "Plan", "RunFigures", "write_report"]
