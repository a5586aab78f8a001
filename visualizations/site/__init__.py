"""The app without a server: one folder of plain files, made of what the app itself builds."""

from visualizations.site.build import write_site

__all__ = ["write_site"]
