"""The rooms of the two packages: which imports which, read from the source without running it."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# From the top down: a room uses those below it, never one above. Rooms on one line don't know each other.
ENGINE = (("timing", "distill"), ("exactness",), ("branching",), ("recording",), ("decoding",), ("models",), ("trace",), ("settings",))
SCREEN = (
    ("record", "record_timings", "record_drafting", "page_speed", "load_test", "handout", "site"), ("demo",), ("links", "projector"), ("api",), ("lesson",), ("why_exact",), ("is_it_faster",), ("drafting",),
    ("step_through",), ("components",), ("figures",), ("serving",), ("text",),
)  # fmt: skip
FORBIDDEN = {"gradio", "plotly", "visualizations"}  # in the engine


def modules(package: str) -> dict[str, Path]:
    """Dotted name to file of every module below `package`; a package stands for its `__init__`."""
    found = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(source: str, known: set[str]) -> set[str]:
    """The modules that a source imports anywhere, in functions and for type checking too: of `known` by their
    full names, of other packages by the first part."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in known else str(node.module) for name in below}
    return {name if name in known else name.partition(".")[0] for name in names}


def graph() -> dict[str, set[str]]:
    found = modules("specdec") | modules("visualizations")
    return {name: imported(path.read_text("utf-8"), set(found)) - {name} for name, path in found.items()}


def circle_in(edges: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def upward(edges: dict[str, set[str]], package: str, floors: tuple[tuple[str, ...], ...]) -> list[str]:
    """Imports within `package` that run up, or between rooms of one floor."""
    floor_of = {room: number for number, rooms in enumerate(floors) for room in rooms}
    wrong = []
    for name, uses in edges.items():
        for used in uses:
            here, there = ((one.split(".") + [""])[1] for one in (name, used))
            if name.startswith(package) and used.startswith(f"{package}.") and here and here != there:
                if floor_of[there] <= floor_of[here]:
                    wrong.append(f"{name} imports {used}")
    return wrong


def test_no_import_closes_a_circle():
    assert circle_in(graph()) == []


@pytest.mark.parametrize("package, floors", [("specdec", ENGINE), ("visualizations", SCREEN)])
def test_no_import_runs_up(package, floors):
    assert upward(graph(), package, floors) == []


def test_the_engine_draws_nothing_and_does_not_know_the_screen():
    tops = {name: {used.partition(".")[0] for used in uses} for name, uses in graph().items()}
    wrong = {name: used & FORBIDDEN for name, used in tops.items() if name.startswith("specdec") and used & FORBIDDEN}
    assert wrong == {}


def test_figures_need_no_gradio():
    wrong = [name for name, uses in graph().items() if name.startswith("visualizations.figures") and "gradio" in uses]
    assert wrong == []


def test_the_walk_would_notice():
    """The negative control: planted imports of each forbidden kind are found."""
    known = {"specdec.trace", "specdec.trace.record", "specdec.models.table", "specdec.settings"}
    source = "def late():\n    from specdec.models import table\n    import gradio.themes"
    assert imported(source, known) == {"specdec.models.table", "gradio"}
    edges = {"specdec.trace.record": {"specdec.models.table"}, "specdec.models.table": {"specdec.trace.record"}}
    assert set(circle_in(edges)) == set(edges)
    assert upward(edges, "specdec", ENGINE) == ["specdec.trace.record imports specdec.models.table"]
