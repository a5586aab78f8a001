"""The measurements that the tab "Is it faster?" shows before anyone has pressed a button.

They were made by `python -m visualizations.record_timings`; each names the machine it was made on. Reading
the race and the roofline costs torch, so nothing here is called before a page asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from specdec.timing.comparison import Comparison, Sweep
from specdec.timing.records import Costs
from visualizations.components.recorded import RecordFolder
from visualizations.serving.engine_imports import import_engine

if TYPE_CHECKING:
    from specdec.timing.race import Race
    from specdec.timing.roofline import Roofline

FOLDER = RecordFolder(Path(__file__).parent / "recorded")
NAMES = ("race", "comparison", "costs", "roofline", "sweep")


@dataclass(frozen=True)
class Recorded:
    """One record of each kind."""

    race: Race
    comparison: Comparison
    costs: Costs
    roofline: Roofline
    sweep: Sweep


@lru_cache(maxsize=1)
def recorded() -> Recorded:
    """All of them, read once. Slow the first time: it imports torch."""
    import_engine()
    from specdec.timing.race import Race
    from specdec.timing.roofline import Roofline

    kinds: dict[str, type] = dict(zip(NAMES, (Race, Comparison, Costs, Roofline, Sweep)))
    return Recorded(**FOLDER.read(kinds))
