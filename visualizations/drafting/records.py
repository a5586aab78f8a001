"""The measurements that the tab "Drafting" shows before anyone has pressed a button.

They were made by `python -m visualizations.record_drafting`; each names what it was made with. Reading them costs
torch, so nothing here is called before a page asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from specdec.timing.comparison import Comparison
from specdec.timing.policies import PolicyRuns
from specdec.timing.records import Costs
from visualizations.components.recorded import RecordFolder
from visualizations.serving.engine_imports import import_engine

if TYPE_CHECKING:
    from specdec.exactness.dependence import Dependence
    from specdec.timing.drafters import Drafters

FOLDER = RecordFolder(Path(__file__).parent / "recorded")
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

    kinds: dict[str, type] = dict(zip(NAMES, (PolicyRuns, Comparison, Dependence, Drafters, Costs)))
    return Recorded(**FOLDER.read(kinds))
