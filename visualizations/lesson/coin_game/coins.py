"""Ten coins of recorded runs, chosen by a rule, and how well the best guesser would do on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specdec.trace.record import Position
from specdec.trace.trace import Trace
from visualizations.figures.labels import token_label

COINS = 10
BEFORE = 60  # characters of the text so far, at most


@dataclass(frozen=True)
class Coin:
    """A drafted token that was tested. p, q: its p_big and p_small. coin: it was kept iff coin < accept.

    before: the end of the text that it follows; draft, instead: labels of the draft and of what replaced it, '' where
    it was kept.
    """

    before: str
    draft: str
    p: float
    q: float
    accept: float
    coin: float
    kept: bool
    instead: str


def chosen_coins(runs: Sequence[Trace]) -> tuple[Coin, ...]:
    """Coins with accept probabilities spread over (0, 1), the last of them 1, in the order of the runs."""
    thrown = [coin for run in runs for coin in _thrown(run)]
    wanted = [(index + 0.5) / COINS for index in range(COINS - 1)] + [1.0]
    left = list(range(len(thrown)))
    for accept in wanted:
        left.remove(min(left, key=lambda index: abs(thrown[index].accept - accept)))
    return tuple(coin for index, coin in enumerate(thrown) if index not in left)


def always_keep(coins: Sequence[Coin]) -> float:
    """The mean squared error of whoever is sure that every draft is kept."""
    return _brier((1.0, coin.kept) for coin in coins)


def truth(coins: Sequence[Coin]) -> float:
    """The mean squared error of whoever says the accept probability."""
    return _brier((coin.accept, coin.kept) for coin in coins)


def _brier(said: Iterable[tuple[float, bool]]) -> float:
    errors = [(chance - kept) ** 2 for chance, kept in said]
    return sum(errors) / len(errors)


def _thrown(run: Trace) -> list[Coin]:
    coins, text = [], ""
    for position in run.positions:
        if position.coin is not None:
            coins.append(_coin(position, text))
        if position.kind != "discarded":
            text += position.text
    return coins


def _coin(position: Position, text: str) -> Coin:
    draft = next(candidate for candidate in position.candidates if candidate.id == position.draft_id)
    kept = position.kind == "accepted"
    return Coin(
        before=text if len(text) <= BEFORE else "…" + text[-BEFORE:].partition(" ")[2],
        draft=token_label(draft.text, draft.id, draft.bytes),
        p=position.p,
        q=position.q,
        accept=position.accept_probability,
        coin=position.coin,
        kept=kept,
        instead="" if kept else token_label(position.text, position.token_id, position.bytes),
    )
