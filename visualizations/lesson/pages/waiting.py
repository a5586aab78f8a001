"""Page 1, "One token a pass": a pass over five tokens costs hardly more than a pass over one."""

from __future__ import annotations

from functools import partial

from specdec.settings import Settings
from specdec.timing.records import Costs
from visualizations.components.chart import Chart
from visualizations.components.chart.component import chart_value
from visualizations.figures.pass_cost import pass_time
from visualizations.is_it_faster.captions import pass_caption
from visualizations.is_it_faster.records import FOLDER
from visualizations.lesson.page import Page
from visualizations.lesson.written import written_choice, written_page
from visualizations.text import t

KEY = "waiting"
GAMMA = Settings().gamma


def waiting_page() -> Page:
    """The options are the measured ratio and what follows from usual mistakes."""
    costs = FOLDER.read({"costs": Costs})["costs"]
    tokens, widest = GAMMA + 1, costs.target[-1]
    one, many, most = (1e3 * costs.target_seconds(n) for n in (1, tokens, widest.tokens))
    numbers = {
        "tokens": tokens,
        "times": f"{costs.verify_ratio(GAMMA):.1f}",
        "half": f"{tokens / 2:g}",
        "square": tokens**2,
        "one": f"{one:.1f}",
        "many": f"{many:.1f}",
        "each": f"{many / tokens:.1f}",
        "widest": widest.tokens,
        "most": f"{most:.1f}",
        "most_times": f"{most / one:.1f}",
    }
    return written_page(KEY, partial(_figure, costs), written_choice(KEY, "waits", numbers), numbers, covered=True)


def _figure(costs: Costs) -> Chart:
    return Chart(
        chart_value(pass_time(costs, GAMMA), pass_caption(costs, GAMMA)),
        name=t("lesson.pages.waiting.figure"),
        empty="",
        elem_id="lesson-pass-cost",
    )
