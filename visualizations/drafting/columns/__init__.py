"""A prompt's rounds under the policy that is chosen."""

from visualizations.drafting.columns.component import ColumnsView, columns_value

__all__ = ["ColumnsView", "columns_value"]
