"""Page 8: what is rejected and where it goes, by the sets A (too much drafted) and B (too little)."""

from __future__ import annotations

from visualizations.components.chart import Chart, chart_value
from visualizations.figures.mass_flow import mass_flow, mass_flow_figure
from visualizations.lesson.blanks import written_blank
from visualizations.lesson.page import Blanks, Page
from visualizations.lesson.written import written_page
from visualizations.text import t
from visualizations.why_exact.bars import PRESETS, UNIT

KEY = "sets"
NAMES = ("a", "b", "c", "d")
SMALL, BIG = (tuple(mass / UNIT for mass in masses) for masses in PRESETS["article"])
CLOSE = 0.004


def sets_page() -> Page:
    """Mass out of A is mass into B."""
    flow, places = mass_flow(SMALL, BIG), range(len(NAMES))
    moved = {(x, y): flow[x][y] for x in places for y in places if x != y and flow[x][y] > 0}
    leaves, enters = {x for x, _ in moved}, {y for _, y in moved}
    always, never = _extremes()
    out = sum(moved.values())
    numbers = {
        "out": f"{out:.2f}",
        "overlap": f"{sum(map(min, SMALL, BIG)):.2f}",
        "count": len(leaves),
        "all": len(NAMES),
        "rejected": _listed(leaves),
        "refilled": _listed(enters),
        "always": _listed(always),
        "never": _listed(never),
        "drafted": f"{sum(SMALL[x] for x in leaves):.2f}",
        "wanted": f"{sum(BIG[x] for x in leaves):.2f}",
    }
    count = {"all": len(NAMES), "only_never": len(never)}
    mass = {"drafted": sum(SMALL[x] for x in leaves), "only_never": sum(SMALL[x] for x in never)}
    refill = {"from_target": sum(BIG[x] for x in leaves), "half": len(leaves) / len(NAMES)}
    blanks = (
        written_blank(KEY, "count", len(leaves), CLOSE, count, numbers),
        written_blank(KEY, "mass", out, CLOSE, mass, numbers),
        written_blank(KEY, "refill", len(leaves & enters), CLOSE, refill, numbers),
    )
    return written_page(KEY, _figure, Blanks(blanks), numbers)


def _extremes() -> tuple[set[int], set[int]]:
    """The tokens whose drafts are always kept, and those that never are."""
    places = range(len(NAMES))
    return {x for x in places if BIG[x] >= SMALL[x] > 0}, {x for x in places if BIG[x] == 0 < SMALL[x]}


def _listed(places: set[int]) -> str:
    return ", ".join(NAMES[place] for place in sorted(places))


def _figure() -> Chart:
    figure = mass_flow_figure(NAMES, SMALL, BIG)
    return Chart(chart_value(figure), name=t("lesson.pages.sets.figure"), empty="", elem_id="lesson-sets-flow")
