"""What comes out when the replacement is drawn from one law or another."""

from visualizations.lesson.refill_view.component import RefillView
from visualizations.lesson.refill_view.refills import Cells, Refill, refills, rejection

__all__ = ["Cells", "Refill", "RefillView", "refills", "rejection"]
