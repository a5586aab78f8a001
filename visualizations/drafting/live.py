"""From the records of this tab to what its sections show, whole or while they are measured."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from specdec.settings import Settings
from specdec.timing.records import Costs
from visualizations.components.chart import chart_value
from visualizations.components.folding import folded_value
from visualizations.components.measuring import Shown, growing_steps, measured_with
from visualizations.drafting import works
from visualizations.drafting.asked import MeasureCosts, MeasureDependence, MeasureDrafters, MeasurePolicies
from visualizations.drafting.columns import columns_value
from visualizations.drafting.form import Request
from visualizations.drafting.results import (
    dependence_result,
    drafters_result,
    policies_result,
    shared_result,
    threshold_result,
)
from visualizations.drafting.shared import shared_value
from visualizations.drafting.threshold import threshold_value
from visualizations.drafting.words import (
    drafters_report,
    entropy_caption,
    kind_caption,
    place_caption,
    policies_report,
    policy_answers,
    runs_caption,
    shared_caption,
    target_caption,
    threshold_caption,
)
from visualizations.figures.acceptance import overlap_by_entropy, rates, rates_by_kind
from visualizations.figures.drafter_map import drafter_map
from visualizations.serving.backend import Backend
from visualizations.text import t

if TYPE_CHECKING:  # importing these costs torch
    from specdec.exactness.dependence import Dependence
    from specdec.timing.drafters import Drafters

COST_REPEATS = 3
THRESHOLD = Settings().entropy_threshold

Values = tuple[Any, ...]


def policies_values(record: works.Policies) -> Values:
    """Of a head, the columns and the report; of the next head and the threshold's columns."""
    runs, comparison = record.runs, record.comparison
    costs = comparison.costs if comparison else None
    columns = columns_value(runs, policy_answers(runs), runs_caption(runs))
    return (
        folded_value(policies_result(comparison), measured_with(runs, comparison)),
        columns,
        policies_report(comparison),
        folded_value(threshold_result(runs, costs), measured_with(runs, costs)),
        threshold_value(runs, costs, threshold_caption(runs)),
    )


def dependence_values(record: Dependence) -> Values:
    """Of the head and the charts by place, by the draft's entropy, by the target's, and by kind."""
    from specdec.exactness.dependence import by_place, by_prompt, by_target_entropy, by_token_kind

    facts, places = record.facts, by_place(record.facts)
    targets, tokens, prompts = by_target_entropy(facts), by_token_kind(facts), by_prompt(facts, record.prompts)
    return (
        folded_value(dependence_result(record, targets)),
        chart_value(rates(places, t("drafting.acceptance.place_axis")), place_caption(record, places)),
        chart_value(overlap_by_entropy(facts, THRESHOLD), entropy_caption(record, THRESHOLD)),
        chart_value(rates(targets, t("drafting.acceptance.target_entropy_axis")), target_caption(targets)),
        chart_value(rates_by_kind(tokens, prompts), kind_caption(tokens, prompts)),
    )


def drafters_values(record: Drafters) -> Values:
    """Of the head, the map and the table."""
    longest = int(record.costs.target[-1].tokens) - 1
    chart = chart_value(drafter_map(record), t("drafting.drafters.said", gamma=longest))
    return folded_value(drafters_result(record), measured_with(record)), chart, drafters_report(record)


def costs_values(record: Costs, alpha: float) -> Values:
    """Of the head and the view of the shared machine. alpha: where its slider stands."""
    head = folded_value(shared_result(record, alpha), measured_with(record))
    return head, shared_value(record, alpha, shared_caption(record))


def policies_steps(shelf: Backend, stop: threading.Event, asked: Request, prompt: str) -> Iterator[Shown]:
    """One prompt under every policy, then by turns against plain decoding."""
    work = MeasurePolicies(prompt, asked.settings, asked.repeats)
    return growing_steps(shelf.alone(asked.choice, work, stop), stop, policies_values)


def dependence_steps(shelf: Backend, stop: threading.Event, asked: Request) -> Iterator[Shown]:
    """Every tested draft of a run of each prompt."""
    work = MeasureDependence(asked.prompts, asked.kinds, asked.settings)
    return growing_steps(shelf.using(asked.choice, work, stop), stop, dependence_values)


def drafters_steps(shelf: Backend, stop: threading.Event, asked: Request) -> Iterator[Shown]:
    """Every drafter on the same prompts."""
    work = MeasureDrafters(asked.prompts, asked.settings, asked.repeats)
    return growing_steps(shelf.alone(asked.choice, work, stop), stop, drafters_values)


def costs_steps(shelf: Backend, stop: threading.Event, asked: Request, alpha: float) -> Iterator[Shown]:
    """Passes over 1 to the most tokens."""
    events = shelf.alone(asked.choice, MeasureCosts(COST_REPEATS), stop)
    return growing_steps(events, stop, partial(costs_values, alpha=alpha))
