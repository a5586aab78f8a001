"""Small traces built from chosen laws, for tests of what is drawn. Every identity of a trace holds in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from specdec.settings import Settings
from specdec.trace.record import (
    Candidate,
    Other,
    Output,
    PairInfo,
    Position,
    Prompt,
    Round,
    TokenText,
    metrics_of,
)  # fmt: skip
from specdec.trace.trace import SCHEMA, Trace, check_identities  # fmt: skip

HOSTILE = (
    "${x}", "`", "\\", "<img src=x onerror=alert(1)>", "{{x}}", "\n", "日本", "</script>", "\t", " a", "a",
    "<b>bold</b>", "$x^2$", "%{x}", "**x**", "<|im_end|>", "\r\n", " ",
)  # fmt: skip
WORDS = (" sky", " is", " blue", " because", " clear", " light", " the", " the")
SPLIT = (("", "F0 9F"), ("", "A6"), ("🦄", "84"))
VOCABULARY = 80
LISTED = 12


def token_of(id_: int) -> TokenText:
    """Ids: first `WORDS`, then `HOSTILE`, then the three parts of one character, then plain fillers."""
    texts = (*WORDS, *HOSTILE)
    if id_ < len(texts):
        return TokenText(id_, texts[id_], special=texts[id_] == "<|im_end|>")
    if id_ < len(texts) + len(SPLIT):
        text, part = SPLIT[id_ - len(texts)]
        return TokenText(id_, text, bytes=part)
    return TokenText(id_, f" word{id_}")


def position(
    kind: str, index: int, token: int, p: np.ndarray, q: np.ndarray | None, draft: int | None = None,
    coin: float | None = None, rule: str = "token",
) -> Position:  # fmt: skip
    """One position with the laws p (p_big) and q (p_small), each [VOCABULARY]; q None: nothing drafted."""
    drafted = q is not None
    q_ = q if drafted else np.zeros(VOCABULARY)
    ids = set(np.argsort(-p)[:LISTED].tolist()) | {token}
    if drafted:
        ids |= set(np.argsort(-q_)[:LISTED].tolist()) | {draft}
    listed = sorted(ids, key=lambda i: (-max(p[i], q_[i]), i))
    rest = np.setdiff1d(np.arange(VOCABULARY), listed)
    both, beyond = np.minimum(p, q_), np.maximum(0, p - q_)

    def known(value: float) -> float | None:
        return float(value) if drafted else None

    accept = (min(1.0, p[draft] / q_[draft]) if rule == "token" else p[draft]) if drafted else 0.0
    shown = token_of(token)
    return Position(
        output_index=index, kind=kind, draft_id=draft, draft_uniform=known(0.5), token_id=token, text=shown.text,
        token_uniform=0.5 if kind in ("replaced", "bonus", "plain") else None,
        p=known(p[draft]) if drafted else None, q=known(q_[draft]) if drafted else None,
        accept_probability=known(accept), coin=coin, overlap=known(both.sum()), residual_mass=known(beyond.sum()),
        target_entropy=entropy(p), draft_entropy=known(entropy(q_)),
        candidates=tuple(
            Candidate(i, token_of(i).text, float(p[i]), known(q_[i]), token_of(i).special, token_of(i).bytes)
            for i in listed
        ),
        other=Other(float(p[rest].sum()), known(q_[rest].sum()), known(both[rest].sum()), known(beyond[rest].sum())),
        special=shown.special, bytes=shown.bytes,
    )  # fmt: skip


def entropy(law: np.ndarray) -> float:
    return float(-(law[law > 0] * np.log(law[law > 0])).sum())


def law(seed: int, **boosted: float) -> np.ndarray:
    """A random law with mass added to ids: law(1, id3=0.4) has 0.4 more on id 3 than 60 % of its own."""
    made = np.random.default_rng(seed).dirichlet(np.full(VOCABULARY, 0.1)) * (1 - sum(boosted.values()))
    for name, mass in boosted.items():
        made[int(name[2:])] += mass
    return made


def round_of(positions: list[Position]) -> Round:
    drafted = sum(p.draft_id is not None for p in positions)
    accepted = sum(p.kind == "accepted" for p in positions)
    tested = accepted + sum(p.kind == "replaced" for p in positions)
    emitted = sum(p.kind != "discarded" for p in positions)
    return Round(drafted, tested, accepted, emitted, 0.0, 0.01, 0.02, 0.03, tuple(positions))


def trace_of(rounds: list[Round], **settings: object) -> Trace:
    rounds = [replace(round_, started=number * round_.seconds) for number, round_ in enumerate(rounds)]
    out = [p for round_ in rounds for p in round_.positions if p.kind != "discarded"]
    chosen = Settings.checked(**settings)
    fed = (TokenText(1, "<|im_start|>", special=True), TokenText(2, "user"), TokenText(3, "\n"), TokenText(4, " why ${x}"))
    trace = Trace(
        schema=SCHEMA, created="2026-01-01T00:00:00+00:00", pair=PairInfo("toy", "big", "small", VOCABULARY),
        device="cpu", dtype="float32", settings=chosen, seed=chosen.seed,
        prompt=Prompt("why", tuple(token.id for token in fed), fed), rounds=tuple(rounds),
        output=Output(tuple(p.token_id for p in out), "".join(p.text for p in out), "length"),
        metrics=metrics_of(rounds, 0.5),
    )  # fmt: skip
    check_identities(trace)
    return trace


def made_trace(rule: str = "token", **settings: object) -> Trace:
    """Every kind of position, the sentence's own numbers, then every hostile text as an accepted draft.

    Round 1: ' sky' accepted whatever the coin, ' blue' (q 0.41, p 0.12) rejected for ' clear', one discarded.
    Round 2: ' is' accepted by its coin, then a bonus. Round 3: plain. Then hostile texts, four a round.
    """
    sky, is_, blue, because, clear, light = range(6)
    rejected_p, rejected_q = _with(law(2), {blue: 0.12, clear: 0.2}), _with(law(3), {blue: 0.41, clear: 0.05})
    rounds = [
        round_of([
            position("accepted", 0, sky, law(1, id0=0.4), law(4, id0=0.2), sky, 0.71, rule),
            position("replaced", 1, clear, rejected_p, rejected_q, blue, 0.63, rule),
            position("discarded", 2, because, law(5, id3=0.3), law(6, id3=0.3), because, None, rule),
        ]),
        round_of([
            position("accepted", 2, is_, _with(law(7), {is_: 0.3}), _with(law(8), {is_: 0.5}), is_, 0.2, rule),
            position("bonus", 3, light, law(9, id5=0.2), None),
        ]),
        round_of([position("plain", 4, 6, law(10, id6=0.1), None)]),
    ]  # fmt: skip
    ids = list(range(len(WORDS) - 1, len(WORDS) + len(HOSTILE) + len(SPLIT)))
    for first in range(0, len(ids), 4):
        index = 5 + first
        rounds.append(round_of([
            position("accepted", index + place, id_, _with(law(20), {id_: 0.4}), _with(law(21), {id_: 0.3}), id_, 0.1, rule)
            for place, id_ in enumerate(ids[first : first + 4])
        ]))  # fmt: skip
    return trace_of(rounds, rule=rule, **settings)


def greedy_trace() -> Trace:
    """Temperature 0: one accepted, one rejected draft, then a plain token."""

    def one(i: int) -> np.ndarray:
        return np.eye(VOCABULARY)[i]

    return trace_of([
        round_of([
            position("accepted", 0, 0, one(0), one(0), 0, 0.4),
            position("replaced", 1, 4, one(4), one(2), 2, 0.4),
        ]),
        round_of([position("plain", 2, 6, one(6), None)]),
    ], temperature=0.0)  # fmt: skip


def ended_trace(rule: str = "token") -> Trace:
    """One round whose second draft ends the answer; the two behind it are discarded. Seed 11."""
    ids = (0, 1, 2, 3)
    kinds = ("accepted", "accepted", "discarded", "discarded")
    coins = (0.1, 0.1, 0.1 if rule == "block" else None, 0.1 if rule == "block" else None)
    laws = {id_: _with(law(30 + id_), {id_: 0.6}) for id_ in ids}
    return trace_of([
        round_of([position(kind, id_, id_, laws[id_], laws[id_], id_, coin, rule) for kind, id_, coin in zip(kinds, ids, coins)])
    ], rule=rule, seed=11)  # fmt: skip


def of_itself(trace: Trace, dtype: str) -> Trace:
    """The same run by a model that drafts for itself."""
    return replace(trace, pair=PairInfo("same", "same", "same", VOCABULARY), dtype=dtype)


def _with(base: np.ndarray, chosen: dict[int, float]) -> np.ndarray:
    """`base` with exactly the chosen masses, the rest scaled to fill up to 1."""
    made = base.copy()
    made[list(chosen)] = 0
    made *= (1 - sum(chosen.values())) / made.sum()
    for id_, mass in chosen.items():
        made[id_] = mass
    return made


def stopped_trace() -> Trace:
    """`made_trace` under the policy `entropy`: its first round stopped at 0.81 nats, its third drafted nothing."""
    trace = made_trace(policy="entropy", drafter="lookup_then_model", gamma=8)
    reasons = {0: ("entropy", 0.81), 1: ("eos", None), 2: ("no_match", None)}
    rounds = tuple(
        replace(round_, limit=8, stopped=reasons.get(index, ("limit", None))[0], doubt=reasons.get(index, (None, None))[1])
        for index, round_ in enumerate(trace.rounds)
    )
    copied = [replace(position, drafted_by="copy") for position in rounds[1].positions[:1]]
    second = replace(rounds[1], positions=(*copied, *rounds[1].positions[1:]))
    return replace(trace, rounds=(rounds[0], second, *rounds[2:]))
