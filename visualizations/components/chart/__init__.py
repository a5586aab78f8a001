"""A plotly figure on the page."""

from visualizations.components.chart.component import Chart, chart_value, embedded

__all__ = ["Chart", "chart_value", "embedded"]
