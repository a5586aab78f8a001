"""From a `Race` record to what the page draws: plain numbers and texts, small enough to send while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specdec.trace.record import TokenText, ratio
from visualizations.figures.labels import token_label
from visualizations.figures.timing_style import machine
from visualizations.text import t

if TYPE_CHECKING:  # importing it costs torch
    from specdec.timing.race import Block, Lane, Race

LANES = ("plain", "speculative")
DIGITS = 6  # of seconds: microseconds


def race_value(race: Race | None, running: bool = False) -> dict[str, Any]:
    """The value of a `RaceView`.

    lanes: each with name, told (how it ended), limit (tokens asked for) and blocks
    [started, drafted_at, verified_at, finished, tokens]; a token is [kind, label, text] with kind
    accepted, rejected, discarded, replaced, bonus or plain. line: the result in words, '' until both have run.
    """
    if race is None:
        return {"running": running, "lanes": [], "line": "", "machine": ""}
    limit = race.settings.max_new_tokens
    lanes = [_lane(getattr(race, name), name, limit) for name in LANES]
    where = machine(race.hardware, race.pair, race.dtype)
    return {"running": running, "lanes": lanes, "line": "" if running else race_line(race), "machine": where}


def race_line(race: Race) -> str:
    """'plain 29.4 tok/s, speculative 38.2 tok/s, measured ratio 1.30: one run, ...'; '' unless both lanes have run."""
    plain, fast = race.plain.decode_rate, race.speculative.decode_rate
    if not plain or not fast:
        return ""
    drafted = any(len(block.tokens) > block.emitted or _kept(block) for block in race.speculative.blocks)
    line = t("faster.race.line", plain=f"{plain:.1f}", speculative=f"{fast:.1f}", ratio=f"{ratio(fast, plain):.2f}")
    return line if drafted else f"{line} {t('faster.race.nothing_drafted')}"


def _kept(block: Block) -> bool:
    return any(token.fate == "accepted" for token in block.tokens)


def _lane(lane: Lane, name: str, limit: int) -> dict[str, Any]:
    return {
        "key": name,
        "name": t(f"faster.race.{name}", gamma=lane.gamma),
        "limit": limit,
        "told": t(f"faster.race.stop.{lane.stop_reason}") if lane.stop_reason else "",
        "blocks": [_block(block) for block in lane.blocks],
    }


def _block(block: Block) -> list[Any]:
    times = [round(second, DIGITS) for second in (block.started, block.drafted_at, block.verified_at, block.finished)]
    fates = [token.fate for token in block.tokens]
    own = "replaced" if "rejected" in fates else "bonus" if "accepted" in fates else "plain"
    return [*times, [[own if raced.fate == "added" else raced.fate, *_texts(raced.token)] for raced in block.tokens]]


def _texts(token: TokenText) -> tuple[str, str]:
    """A token's label and its text."""
    return token_label(token.text, token.id, token.bytes), token.text
