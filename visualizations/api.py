"""The one endpoint for programs: `decode`, which runs a prompt and returns its trace."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from dataclasses import fields
from inspect import Parameter, Signature
from typing import Any, get_type_hints

import gradio as gr

from specdec.settings import BadInput, Settings
from specdec.trace.growing import GrowingTrace, Step
from specdec.trace.trace import Trace
from visualizations.serving.ahead import ahead
from visualizations.serving.backend import Backend, Shared, Waiting
from visualizations.serving.first_pair import first_choice, startable
from visualizations.serving.inputs import checked_prompt, pair_choice
from visualizations.serving.stopping import OpenRuns

_DOCUMENTATION = """Decode a prompt speculatively and return the trace of the run.

While it runs, updates {"emitted": n} arrive, so that a caller can follow and cancel it; the last update, which is
the result, is the trace. pair is a key of the catalogue, or "custom" with two Hub ids in target and draft.
"""


def decode_endpoint(shelf: Backend, runs: OpenRuns) -> Callable[..., AsyncIterator[dict[str, Any]]]:
    """The function behind the endpoint: prompt, pair, target, draft and every field of `Settings`."""
    signature = _signature()

    def steps(stop: threading.Event, *values: Any) -> Iterator[dict[str, Any]]:
        given = signature.bind(*values).arguments
        try:
            prompt = checked_prompt(given.pop("prompt"))
            choice = pair_choice(given.pop("pair"), given.pop("target"), given.pop("draft"))
            settings = Settings.checked(**given)
            run = None
            with closing(ahead(shelf.steps(choice, prompt, settings, stop))) as batches:
                for batch in batches:
                    run = _joined(run, batch)
                    yield {"emitted": run.metrics.emitted if run else 0}
        except BadInput as refusal:
            raise gr.Error(str(refusal), print_exception=False) from None
        if run is not None:
            yield run.trace().to_dict()

    decode = runs.handler(steps)
    decode.__doc__ = _DOCUMENTATION
    own = Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=gr.Request)
    decode.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])  # type: ignore[attr-defined]
    decode.__annotations__ = {p.name: p.annotation for p in decode.__signature__.parameters.values()}
    decode.__annotations__["return"] = dict[str, Any]
    return decode


def _joined(run: GrowingTrace | None, batch: list[Waiting | Shared | Trace | Step]) -> GrowingTrace | None:
    for event in batch:
        if isinstance(event, Trace):
            run = GrowingTrace(event)
        elif isinstance(event, Step) and run is not None:
            run.add(event)
    return run


def _signature() -> Signature:
    """The endpoint's parameters, so that a new setting is there without being written twice."""
    hints = get_type_hints(Settings) | {"stop_strings": list[str]}
    first = first_choice()
    defaults = startable(Settings(), first).to_dict()
    texts = {"prompt": Parameter.empty, "pair": first.key, "target": "", "draft": ""}
    named = [(name, str, default) for name, default in texts.items()]
    named += [(field.name, hints[field.name], defaults[field.name]) for field in fields(Settings)]
    return Signature(
        [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value, annotation=hint) for name, hint, value in named],
        return_annotation=dict[str, Any],
    )
