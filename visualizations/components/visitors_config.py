"""What Gradio keeps of each visitor, less what it has no use for: many come."""

from __future__ import annotations

from typing import Any

from gradio.blocks import BlocksConfig


class PageConfig(BlocksConfig):
    """The parts and events of a page. Gradio copies it for every visitor.

    It then describes each part anew, to put the visitor's last values into the description, and reads that for its deep
    links alone. A page without those need neither take the time nor keep what its visitors sent and got.
    """

    def __copy__(self) -> BlocksConfig:
        """As Gradio does it, for a visitor: the same parts and events, none of them described."""
        visitors = super().__copy__()
        visitors.config_for_block = _not_described
        return visitors


def _not_described(*_: Any) -> dict[str, Any]:
    return {}
