"""A verdict, numbers with their definitions, tables."""

from visualizations.components.report.component import Report, report_value

__all__ = ["Report", "report_value"]
