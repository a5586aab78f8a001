"""The measurements that the tab "Drafting" shows before anyone has pressed a button.

They were made by `python -m visualizations.record_drafting`; each names what it was made with. Reading them costs
torch, so nothing here is called before a page asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specdec.timing.comparison import Comparison
from specdec.timing.policies import PolicyRuns
from specdec.timing.records import Costs, from_json
from visualizations.serving.engine_imports import import_engine

if TYPE_CHECKING:
    from specdec.exactness.dependence import Dependence
    from specdec.timing.drafters import Drafters

FOLDER = Path(__file__).parent / "recorded"
NAMES = ("policy_runs", "policies", "dependence", "drafters", "costs")


@dataclass(frozen=True)
class Recorded:
    """One record of each kind."""

    policy_runs: PolicyRuns
    policies: Comparison
    dependence: Dependence
    drafters: Drafters
    costs: Costs


@lru_cache(maxsize=1)
def recorded() -> Recorded:
    """All of them, read once. Slow the first time: it imports torch."""
    import_engine()
    from specdec.exactness.dependence import Dependence
    from specdec.timing.drafters import Drafters

    kinds: dict[str, Any] = dict(zip(NAMES, (PolicyRuns, Comparison, Dependence, Drafters, Costs)))
    return Recorded(**{name: from_json(kind, _path(name).read_bytes()) for name, kind in kinds.items()})


def write(name: str, record: Any) -> None:
    """Keep a record under its name."""
    FOLDER.mkdir(exist_ok=True)
    _path(name).write_text(record.to_json() + "\n", "utf-8")


def _path(name: str) -> Path:
    return FOLDER / f"{name}.json"
