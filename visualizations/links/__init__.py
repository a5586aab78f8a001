"""Links to what is on screen: the page's address tells it, and opening an address brings it back."""

from visualizations.links.component import PageLink
from visualizations.links.wiring import TABS, connect_links

__all__ = ["TABS", "PageLink", "connect_links"]
