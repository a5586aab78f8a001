"""A figure with frames that waits to be stepped."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go


class StillFigure(go.Figure):
    """A plotly Figure that doesn't play its frames by itself when it is shown or exported.

    Playing animates between frames, which plotly.js can't do for patterned bars; steps of a slider with
    no transition work.
    """

    def show(self, *args: Any, **kwargs: Any) -> Any:
        return super().show(*args, **{"auto_play": False, **kwargs})

    def to_html(self, *args: Any, **kwargs: Any) -> str:
        return super().to_html(*args, **{"auto_play": False, **kwargs})

    def write_html(self, *args: Any, **kwargs: Any) -> None:
        super().write_html(*args, **{"auto_play": False, **kwargs})

    def _ipython_display_(self) -> None:
        self.show()
