"""Page 11: the refill once more, with other words and other numbers."""

from __future__ import annotations

from specdec.exactness.theory import expected_tokens, predicted_speedup
from specdec.timing.comparison import Sweep
from visualizations.components.table_view import TableView, table
from visualizations.is_it_faster.records import FOLDER
from visualizations.lesson.blanks import written_blank
from visualizations.lesson.page import Blank, Blanks, Page
from visualizations.lesson.written import written_page
from visualizations.text import data, t

KEY = "again_two"
NAMES = ("rain", "sun", "snow", "wind")
SMALL = (0.5, 0.3, 0.15, 0.05)
BIG = (0.2, 0.3, 0.35, 0.15)
REJECTED, ASKED = 0, (1, 2, 3)
CLOSE = 0.006  # a third may be written as .33


def again_two_page() -> Page:
    """The law of the replacement, from a table."""
    numbers = {"rejected": NAMES[REJECTED], "gaps": _listed(lacking()), **_higher_alpha()}
    return written_page(KEY, _figure, Blanks(tuple(map(_blank, ASKED))), numbers)


def lacking() -> list[float]:
    """What p_big still lacks of each token once the drafts are kept."""
    return [max(0.0, p - q) for p, q in zip(BIG, SMALL)]


def _blank(token: int) -> Blank:
    """A token's chance to be the replacement; mistakes draw from p_big, with or without the rejected token, or
    forget to scale."""
    gaps = lacking()
    right = gaps[token] / sum(gaps)
    numbers = {
        "token": NAMES[token],
        "rejected": NAMES[REJECTED],
        "p": f"{BIG[token]:.2f}",
        "q": f"{SMALL[token]:.2f}",
        "gap": f"{gaps[token]:.2f}",
        "all": f"{sum(gaps):.2f}",
    }
    wrong = {"from_target": BIG[token], "without_rejected": BIG[token] / (1 - BIG[REJECTED])}
    if not gaps[token]:
        return written_blank(KEY, "enough", right, CLOSE, wrong, numbers)
    return written_blank(KEY, "lacking", right, CLOSE, {**wrong, "unscaled": gaps[token]}, numbers)


def _higher_alpha() -> dict[str, object]:
    """The target as its own draft, which has the highest acceptance rate there is, against the recorded draft."""
    sweep = FOLDER.read({"sweep": Sweep})["sweep"]
    costs, gamma, alpha = sweep.comparison.costs, sweep.best_gamma, sweep.alpha
    v = costs.verify_ratio(gamma)
    return {
        "gamma": gamma,
        "v": f"{v:.2f}",
        "alpha": f"{alpha:.2f}",
        "c": f"{costs.cost_ratio:.2f}",
        "itself": f"{predicted_speedup(expected_tokens(1.0, gamma), gamma, 1.0, v):.2f}",
        "student": f"{predicted_speedup(expected_tokens(alpha, gamma), gamma, costs.cost_ratio, v):.2f}",
    }


def _listed(gaps: list[float]) -> str:
    return ", ".join(f"‘{name}’ {gap:.2f}" for name, gap in zip(NAMES, gaps) if gap)


def _figure() -> TableView:
    columns = [t(f"exact.playground.{name}") for name in ("token", "small", "big")]
    rows = [[data(name), f"{q:.2f}", f"{p:.2f}"] for name, q, p in zip(NAMES, SMALL, BIG)]
    shown = table(columns, rows, caption=t("lesson.pages.again_two.figure"))
    return TableView([shown], tags={}, elem_id="lesson-again-two-table")
