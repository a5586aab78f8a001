"""What the server keeps of visitors who have run something and left: nothing."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import anyio
import gradio as gr
import pytest
from gradio.state_holder import SessionState

from specdec.models.pairs import Pair
from specdec.trace.growing import GrowingTrace
from specdec.trace.trace import Trace
from tests.launched import launched, only
from tests.slow_pair import CHAT_TEMPLATE
from visualizations.components.languages import Page
from visualizations.load_test.client import Visit, browsers, opened, visit
from visualizations.load_test.visitors import Visitor, crowd
from visualizations.step_through import tab
from visualizations.step_through.run_view import ShownRun

PATIENCE_SECONDS = 60
VISITORS = crowd(8, tokens=6, within=0.3, closing=0.25)


@pytest.fixture(scope="module")
def url(llama_pair: Callable[..., Pair]) -> Iterator[str]:
    """The app, which keeps a run for no longer than five seconds after its last step."""
    pair = llama_pair()
    pair.tokenizer.chat_template = CHAT_TEMPLATE
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tab, "LIVE_SECONDS", 5)
        with launched(only(pair)) as url:
            yield url


def come(url: str, visitors: list[Visitor]) -> list[Visit]:
    """All at once; each opens the page, runs, has the lane and leaves, some in the middle."""

    async def all_come() -> list[Visit]:
        visits: list[Visit] = []
        async with browsers(url, PATIENCE_SECONDS) as http, anyio.create_task_group() as coming:
            page = await opened(http)

            async def one(visitor: Visitor) -> None:
                visits.append(await visit(http, page, visitor, PATIENCE_SECONDS))

            for visitor in visitors:
                coming.start_soon(one, visitor)
        return visits

    return anyio.run(all_come)


def kept_runs() -> list[Any]:
    """Whatever holds a run of one of the visitors, in this process, which is the server's."""
    prompts = {visitor.prompt for visitor in VISITORS}
    return [
        one
        for one in gc.get_objects()
        if (type(one) is Trace and one.prompt.text in prompts)
        or (type(one) in (ShownRun, GrowingTrace) and getattr(one, "record", one).start.prompt.text in prompts)
    ]


def test_no_run_of_a_visitor_who_left_is_reachable(url: str) -> None:
    answered = [one for one in come(url, VISITORS) if one.trace]
    assert len(answered) >= len([one for one in VISITORS if one.leaves is None])
    assert any(type(one) is ShownRun for one in kept_runs())  # so soon they are there, and found
    deadline = time.monotonic() + PATIENCE_SECONDS
    while kept_runs() and time.monotonic() < deadline:
        time.sleep(0.2)
        gc.collect()
    assert kept_runs() == []


@pytest.mark.parametrize(("blocks", "keeps"), [(Page, False), (gr.Blocks, True)])
def test_what_a_visitor_sent_is_not_put_by(blocks: type[gr.Blocks], keeps: bool) -> None:
    with blocks(analytics_enabled=False) as page:
        box = gr.Textbox()
        box.submit(lambda text: text, box, box)
    visitors = SessionState(page)
    visitors._update_value_in_config(box._id, "what was typed")
    assert ("what was typed" in repr(visitors.config_values)) is keeps
    assert visitors[box._id] is box and visitors.blocks_config.fns == page.fns


def test_the_page_itself_is_described_in_full() -> None:
    with Page(analytics_enabled=False) as page:
        gr.Textbox("as it opens")
    copy(page.default_config)
    assert page.get_config_file()["components"][0]["props"]["value"] == "as it opens"
