"""A section that is folded until someone opens it; its head says what it came to."""

from visualizations.components.folding.component import FOLD_CSS, FOLD_JS, Folded, folded, folded_value

__all__ = ["FOLD_CSS", "FOLD_JS", "Folded", "folded", "folded_value"]
