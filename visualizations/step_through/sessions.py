"""Session files: the page's runs as a tree that can be saved and opened again."""

from __future__ import annotations

from typing import Any

from specdec.settings import BadInput, is_unicode
from specdec.trace.session import MAX_NAME, MAX_RUNS, SCHEMA, Change, Origin, Session, SessionRun, check_session
from specdec.trace.strict_json import compact_json, from_json
from specdec.trace.trace import Trace
from visualizations.components.file_saver import file_value
from visualizations.step_through.kept_run import kept, kept_session, trace_on_screen
from visualizations.step_through.run_view import new_run, run_view_value
from visualizations.text import t

MAX_CHANGE_BYTES = 200


def saved_session(asked: Any) -> dict[str, Any]:
    """The file of the page's runs: {"runs": [{run, name, kept, origin as `ShownRun` has it}]}. Raises `BadInput`."""
    return file_value("session.json", _session(asked).to_json())


def _session(asked: Any) -> Session:
    runs = asked.get("runs") if isinstance(asked, dict) else None
    if not isinstance(runs, list) or not 1 <= len(runs) <= MAX_RUNS:
        raise BadInput(t("app.session.size", most=MAX_RUNS))
    numbers = {run.get("run"): number for number, run in enumerate(runs) if isinstance(run, dict)}
    session = Session(SCHEMA, tuple(_saved(run, numbers) for run in runs))
    check_session(session)
    return session


def opened_session(data: bytes) -> tuple[dict[str, Any], dict[str, Any], Trace]:
    """The values of a `RunView` and a `KeptRun` that have all runs of a file, and the one to show. Raises `BadInput`."""
    session = Session.from_json(data)
    return *_on_page(session, 0), session.runs[0].trace


def reopened_tree(tree: Any, run: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of a `RunView` and a `KeptRun` that have the page's runs again. run: the one on screen."""
    session = _session({"runs": tree})
    return _on_page(session, next((n for n, one in enumerate(tree) if one.get("run") == run), 0))


def _on_page(session: Session, first: int) -> tuple[dict[str, Any], dict[str, Any]]:
    names = [new_run() for _ in session.runs]
    views = [
        run_view_value(run.trace, name, _shown_origin(run.origin, names)) | {"name": run.name}
        for run, name in zip(session.runs, names, strict=True)
    ]
    held = [kept(run.trace, name) for run, name in zip(session.runs, names, strict=True)]
    return {"session": views, "run": names[first]}, kept_session(held, names[first])


def change_of(plain: Any) -> Change:
    """A checked change from untrusted values; raises `BadInput`."""
    try:
        text = compact_json(plain)
    except (TypeError, ValueError, RecursionError):
        text = ""
    return from_json(Change, text, name="change", limit=MAX_CHANGE_BYTES)


def _saved(run: Any, numbers: dict[Any, int]) -> SessionRun:
    if not isinstance(run, dict) or not isinstance(run.get("name"), str) or not is_unicode(run["name"]):
        raise BadInput(t("app.no_run.unreadable"))
    origin = run.get("origin")
    trace = trace_on_screen(run.get("kept"))
    if not isinstance(origin, dict) or origin.get("parent") not in numbers:  # a parent that was deleted is no parent
        return SessionRun(run["name"][:MAX_NAME], trace)
    change = change_of({"kind": origin.get("kind"), "value": origin.get("value")})
    if type(origin.get("at")) is not int:
        raise BadInput(t("app.no_run.unreadable"))
    return SessionRun(run["name"][:MAX_NAME], trace, Origin(numbers[origin["parent"]], origin["at"], change))


def _shown_origin(origin: Origin | None, names: list[str]) -> dict[str, Any] | None:
    if origin is None:
        return None
    return {"parent": names[origin.parent], "at": origin.at, "kind": origin.change.kind, "value": origin.change.value}
