"""What a run's settings promise of its drafts: how many a round has, who made them, and why there are no more."""

from __future__ import annotations

from collections.abc import Sequence

from specdec.settings import BadInput, Phrase, Settings
from specdec.trace.identities import TOLERANCE
from specdec.trace.record import Limits, Position, Round

_BY = {"model": ("model",), "prompt_lookup": ("copy",), "lookup_then_model": ("copy", "model")}
_ALWAYS_GAMMA = ("fixed", "confidence", "entropy")


def is_copy(draft: Position, settings: Settings) -> bool:
    """Whether a draft was copied from the text. A trace of schema 1 doesn't tell it: there the drafter does."""
    return (draft.drafted_by or _BY[settings.drafter][0]) == "copy"


def check_tells_drafting(first_schema: bool, settings: Settings, rounds: Sequence[Round]) -> None:
    """Raise `BadInput` unless drafting is told everywhere, or nowhere in a trace of schema 1."""
    if first_schema and (settings.policy != "fixed" or settings.drafter == "lookup_then_model"):
        raise BadInput("The trace's settings name a policy or drafter that its schema doesn't know.")
    for index, round_ in enumerate(rounds):
        told = [value is not None for value in (round_.limit, round_.stopped)]
        told += [(p.drafted_by is not None) == (p.draft_id is not None) for p in round_.positions if not first_schema]
        told += [p.drafted_by is not None for p in round_.positions if first_schema]
        if any(value is first_schema for value in told):
            raise BadInput("Round {index} of the trace does not tell of its drafting what its schema has.", index=index)


def check_drafted(
    settings: Settings, prompt_length: int, rounds: Sequence[Round], limits: Limits | None, room: int
) -> None:
    """Raise `BadInput` unless each round drafts at most what its policy, the budget and the draft's context allow,
    and stops before that for the reason that it names.

    limits: None when they aren't known. room: tokens that the target can take behind the prompt.
    """
    written = 0
    for index, round_ in enumerate(rounds):
        bounds = {"limit": _limit(index, round_, settings), "budget": min(settings.max_new_tokens, room) - written - 1}
        if limits and limits.draft_length is not None:
            bounds["room"] = max(0, limits.draft_length - (prompt_length + written) + 1)
        _check_round(Phrase("Round {index} of the trace", index=index), round_, settings, bounds, limits)
        written += round_.emitted


def _limit(index: int, round_: Round, settings: Settings) -> int:
    """The most drafts that the policy allowed."""
    limit = settings.gamma if round_.limit is None else round_.limit
    steady = settings.policy in _ALWAYS_GAMMA or settings.gamma == 0
    least = settings.gamma if steady else int(settings.policy == "heuristic")
    if not least <= limit <= settings.gamma:
        raise BadInput(
            "Round {index} of the trace has a limit of {limit} drafts, not one of its policy and gamma.",
            index=index, limit=limit,
        )
    return limit


def _check_round(where: str, round_: Round, settings: Settings, bounds: dict[str, int], limits: Limits | None) -> None:
    drafts = [position for position in round_.positions if position.draft_id is not None]
    _check_makers(where, drafts, settings)
    _check_doubt(where, round_, drafts, settings)
    if settings.drafter == "lookup_then_model" and not any(draft.drafted_by == "model" for draft in drafts):
        bounds = {name: bound for name, bound in bounds.items() if name != "room"}  # the model's, and it made none
    if len(drafts) > min(bounds.values()):
        raise BadInput(
            "{where} has {count} drafts where its settings allow {most}.",
            where=where, count=len(drafts), most=min(bounds.values()),
        )
    if limits is None:
        return
    if any(draft.draft_id in limits.eos_ids for draft in drafts[:-1]):
        raise BadInput("{where} has drafts behind an end of text.", where=where)
    ended = bool(drafts) and drafts[-1].draft_id in limits.eos_ids
    reason = "eos" if ended else _reason(round_, len(drafts), settings, bounds)
    copied_less = round_.stopped is None and settings.drafter != "model"  # schema 1 ended a copy with the text
    if reason is None and not copied_less or round_.stopped not in (None, reason):
        raise BadInput(
            "{where} has {count} drafts, and what it says of why there are no more does not fit.",
            where=where, count=len(drafts),
        )


def _check_makers(where: str, drafts: Sequence[Position], settings: Settings) -> None:
    makers = {draft.drafted_by for draft in drafts} - {None}
    if len(makers) > 1 or not makers <= set(_BY[settings.drafter]):
        raise BadInput(
            "{where} has drafts made by {makers}, not by {drafter}.",
            where=where, makers=" and ".join(sorted(makers)), drafter=settings.drafter,
        )
    if any((draft.draft_uniform is None) != is_copy(draft, settings) for draft in drafts):
        raise BadInput(
            "{where} has draft_uniforms that do not go with the drafter {drafter}.",
            where=where, drafter=settings.drafter,
        )


def _reason(round_: Round, drafted: int, settings: Settings, bounds: dict[str, int]) -> str | None:
    """Why there are no more drafts than these, none of which ended the text; None: there should be."""
    bound = min(bounds, key=bounds.__getitem__)
    if round_.doubt is not None:
        return settings.policy
    if bounds[bound] == drafted:
        return bound
    if drafted == 0 and settings.drafter != "model" and round_.stopped != "peek":
        return "no_match"
    return "peek" if settings.rule == "peeking" else None


def _check_doubt(where: str, round_: Round, drafts: Sequence[Position], settings: Settings) -> None:
    """A doubt is told exactly where it is the reason, and fits the drafts and the policy's threshold."""
    if (round_.doubt is not None) != (round_.stopped in ("confidence", "entropy")):
        raise BadInput("{where} has a doubt that does not go with why its drafting stopped.", where=where)
    by_model = [draft for draft in drafts if not is_copy(draft, settings)]
    fits = {"confidence": _confidence_fits, "entropy": _entropy_fits}.get(settings.policy)
    if fits and not fits(round_, by_model, settings):
        raise BadInput(
            "{where} stopped drafting elsewhere than its drafts' {policy} has it.", where=where, policy=settings.policy
        )


def _confidence_fits(round_: Round, drafts: Sequence[Position], settings: Settings) -> bool:
    """No draft but the last is below the threshold, and that one where the policy doubted.

    A greedy draft's q is 1, whatever its confidence was; behind an end of text nothing is recorded.
    """
    below = [draft.q < settings.confidence_threshold for draft in drafts]
    if round_.doubt is None:
        return not any(below[:-1]) and (not any(below) or round_.stopped in ("eos", "peek"))
    if not drafts or any(below[:-1]) or not 0 <= round_.doubt < settings.confidence_threshold:
        return False
    return drafts[-1].q == 1 or abs(round_.doubt - drafts[-1].q) <= TOLERANCE


def _entropy_fits(round_: Round, drafts: Sequence[Position], settings: Settings) -> bool:
    """The doubt is above the threshold, and the last draft's entropy where the trace has the law that was looked at."""
    if round_.doubt is None:
        return True
    if not drafts or round_.doubt <= settings.entropy_threshold:
        return False
    whole = settings.draft_sampling.temperature == 1 and not settings.top_k and settings.top_p == 1
    return not whole or abs(round_.doubt - drafts[-1].draft_entropy) <= 10 * TOLERANCE
