"""A verdict, numbers with their definitions, tables."""

from visualizations.is_it_faster.report.component import Report, report_value

__all__ = ["Report", "report_value"]
