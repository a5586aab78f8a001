"""A small table with a title, a sentence before and a note after it; text only."""

from visualizations.components.table_view.component import TableView, table

__all__ = ["TableView", "table"]
