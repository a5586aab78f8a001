"""What a folded section says: its result in a line, and what it was measured with, once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.made_drafting import made_dependence, made_drafters, made_policies, made_policy_runs
from tests.made_timings import DTYPE, PAIR, made_comparison, made_costs, made_race, made_roofline, made_sweep
from visualizations.components.folding import folded_value
from visualizations.components.measuring import measured_with
from visualizations.drafting.live import costs_values, dependence_values, drafters_values, policies_values
from visualizations.drafting.works import Policies
from visualizations.is_it_faster.live import comparison_values, machine_values, race_values, sweep_values
from visualizations.is_it_faster.results import comparison_result, race_result, sweep_result
from visualizations.is_it_faster.works import Machine

WITH = f"{PAIR} in {DTYPE}"
SPECULATIVE = 1


def measured() -> dict[str, tuple]:
    """The values of every measurement of two tabs: heads, and after each the parts of its section."""
    return {
        "race": race_values(made_race()),
        "comparison": comparison_values(made_comparison(), SPECULATIVE),
        "machine": machine_values(Machine(made_costs(), made_roofline()), 4),
        "sweep": sweep_values(made_sweep()),
        "policies": policies_values(Policies(made_policy_runs(), 1, made_policies())),
        "dependence": dependence_values(made_dependence()),
        "drafters": drafters_values(made_drafters()),
        "costs": costs_values(made_costs(), 0.6),
    }


def sections_of(values: tuple) -> list[list]:
    """A list for each head, which begins it."""
    sections: list[list] = []
    for value in values:
        if set(value) == set(folded_value()):
            sections.append([])
        sections[-1].append(value)
    return sections


@pytest.mark.parametrize("name", measured())
def test_a_section_has_a_result_and_names_what_it_was_measured_with_once(name: str) -> None:
    for head, *parts in sections_of(measured()[name]):
        assert head["result"] and parts
        assert json.dumps([head, *parts], ensure_ascii=False).count(WITH) == 1


def test_records_of_two_machines_are_both_named() -> None:
    costs = made_costs()
    other = replace(costs, hardware=replace(costs.hardware, name="another machine"))
    assert measured_with(costs, None, costs).count(WITH) == 1
    assert measured_with(costs, other).count(WITH) == 2


def test_results_say_what_cannot_be_told() -> None:
    assert "2 pairs" in comparison_result(made_comparison(repeats=2), SPECULATIVE)
    assert comparison_result(made_comparison(loop=2.0), SPECULATIVE).startswith("slower")
    result = made_comparison().results[0]
    noisy = replace(result, verdict=replace(result.verdict, key="too_noisy"))
    assert comparison_result(replace(made_comparison(), results=(noisy,)), SPECULATIVE).startswith("too noisy")
    assert sweep_result(made_sweep()).startswith("best measured: γ = ")
    unrun = replace(made_race(), speculative=replace(made_race().speculative, blocks=()))
    assert race_result(unrun) == "not measured yet"
