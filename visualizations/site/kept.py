"""Which parts of the app a page without a server keeps."""

from __future__ import annotations

from collections.abc import Iterator

import gradio as gr
from gradio.blocks import Block
from gradio.components import FormComponent

from visualizations.components.file_saver import FileSaver
from visualizations.components.status_line import StatusLine
from visualizations.lesson.pages.test import RULES
from visualizations.step_through.examples import examples
from visualizations.step_through.kept_run import KeptRun
from visualizations.step_through.take_away import TakeAway
from visualizations.step_through.wishes import Wish

NEEDS_A_SERVER = (StatusLine, TakeAway, KeptRun, FileSaver, Wish)
LEFT_OUT = {"draw-and-count"}  # elem_ids: a test of one's own bars is drawn by the engine
EXAMPLES = {f"example-{example.key}": example for example in examples()}
TESTS = {f"lesson-test-{rule}": rule for rule in RULES}
BUTTONS = {"take-lesson", *EXAMPLES, *TESTS}
STOCK = (gr.Markdown, gr.Tabs, gr.Tab, gr.Row, gr.Column)


def kept(block: Block) -> bool:
    """Whether the block is on the page; what is in it is another question."""
    if block.elem_id in LEFT_OUT or isinstance(block, NEEDS_A_SERVER):
        return False
    if isinstance(block, gr.Button):
        return block.elem_id in BUTTONS
    if isinstance(block, gr.Accordion):  # of settings, or of words to read
        return not any(isinstance(inner, FormComponent) for inner in below(block))
    return isinstance(block, STOCK) or isinstance(block, gr.HTML)


def below(block: Block) -> Iterator[Block]:
    """All that is in a block, in the order of the page."""
    for child in getattr(block, "children", ()):
        yield child
        yield from below(child)


