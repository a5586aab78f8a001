"""What a person can choose for one run, checked once at the door.

Everything behind this module may rely on the ranges stated here. Importing it costs no torch.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

EXACT_RULES = ("token", "match", "block")
BIASED_RULES = ("no_residual", "typical", "lenient", "raw_draft", "ensemble", "peeking", "argmax_draft")
RULES = EXACT_RULES + BIASED_RULES
# Their drafter tells the rule another law than the one it drew from.
MISREPORTING_RULES = ("raw_draft", "argmax_draft")
DRAFTERS = ("model", "prompt_lookup", "lookup_then_model")
POLICIES = ("fixed", "heuristic", "confidence", "entropy", "expected")
DTYPES = ("auto", "float32", "bfloat16", "float16")

MAX_GAMMA = 16
MAX_NEW_TOKENS = 512
MAX_TEMPERATURE = 10.0
MAX_TOP_K = 1_000
MAX_ENTROPY = 20.0
MAX_COST = 10.0
MAX_LOOKUP_MATCH = 8
MAX_SEED = 2**32 - 1
MIN_LENIENCE = 1e-6  # far below it float32 holds l q as 0, and 0 / 0 is no accept probability
MAX_STOP_STRINGS = 8
MAX_STOP_STRING_LENGTH = 64


class Phrase(str):
    """Words for a person, in English; whoever says them in another language goes by what they were made of.

    template: the words with a {name} for each of `values`, which may be phrases in turn. What comes from outside is
    always a value: it is never read as a template. Without values the template itself is said, braces and all.
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Phrase:
        phrase = super().__new__(cls, template.format(**values) if values else template)
        phrase.template, phrase.values = template, values
        return phrase


class BadInput(ValueError):
    """A value from outside that can't be used. The message, `phrase`, is one sentence fit for a visitor."""

    def __init__(self, template: str, /, **values: Any) -> None:
        self.phrase = Phrase(template, **values)
        super().__init__(self.phrase)


@dataclass(frozen=True)
class Sampling:
    """How logits become probabilities: as `transformers`' warpers, in their order, with a fixed rule for ties.

    temperature: 0 (greedy: one-hot on the first maximum) to `MAX_TEMPERATURE`.
    top_k: keep the k largest logits, of equal ones the lowest ids; 0 keeps all.
    top_p: keep the smallest set of commonest tokens whose mass reaches top_p, in (0, 1]; 1 keeps all.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0


@dataclass(frozen=True)
class Settings:
    """All choices of one run. Build it with `checked` when the values come from outside.

    gamma: the most tokens that a round may draft, 0..`MAX_GAMMA` (0 is plain decoding).
    draft_temperature: the draft's own temperature; None takes the target's. Top-k and top-p are shared.
    rule, drafter, policy: keys from `RULES`, `DRAFTERS`, `POLICIES`.
    chat: wrap the prompt in the target's chat template; False feeds the text as it is.
    stop_strings: decoding ends where one of them is complete.
    lenience, typical_epsilon, typical_delta, target_weight: parameters of the biased rules `lenient`,
        `typical` and `ensemble`, each in (0, 1], lenience from `MIN_LENIENCE`; other rules don't read them.
    confidence_threshold: of the policy `confidence`, a probability in [0, 1].
    entropy_threshold: of the policy `entropy`, in nats, 0..`MAX_ENTROPY`.
    draft_cost, token_cost: of the policy `expected`, 0..`MAX_COST`: a draft step, and each further token of a
        target pass, in target passes over one token.
    lookup_match: how many of the last tokens must have occurred before, at least, for `lookup_then_model` to
        copy what followed, 1..`MAX_LOOKUP_MATCH`.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    draft_temperature: float | None = None
    gamma: int = 4
    rule: str = "token"
    drafter: str = "model"
    policy: str = "fixed"
    max_new_tokens: int = 64
    seed: int = 0
    chat: bool = True
    stop_strings: tuple[str, ...] = ()
    lenience: float = 0.7
    typical_epsilon: float = 0.09
    typical_delta: float = 0.3
    target_weight: float = 0.5
    confidence_threshold: float = 0.4
    entropy_threshold: float = 0.6
    draft_cost: float = 0.07
    token_cost: float = 0.02
    lookup_match: int = 2

    @property
    def with_draft_model(self) -> bool:
        """Whether a draft model takes part: something is drafted, and not by copying alone."""
        return self.gamma > 0 and self.drafter != "prompt_lookup"

    @property
    def threshold(self) -> float | None:
        """What the policy holds a draft against; None where it looks at none."""
        return {"confidence": self.confidence_threshold, "entropy": self.entropy_threshold}.get(self.policy)

    @property
    def target_sampling(self) -> Sampling:
        return Sampling(self.temperature, self.top_k, self.top_p)

    @property
    def reported_sampling(self) -> Sampling:
        """What the drafter says it sampled with: the truth, except under the rules whose fault this is."""
        return replace(self._chosen_sampling, top_k=0, top_p=1.0) if self.rule == "raw_draft" else self._chosen_sampling

    @property
    def draft_sampling(self) -> Sampling:
        """What drafts are drawn with; greedy under `argmax_draft`, which says otherwise."""
        return Sampling(0.0) if self.rule == "argmax_draft" else self._chosen_sampling

    @property
    def _chosen_sampling(self) -> Sampling:
        temperature = self.temperature if self.draft_temperature is None else self.draft_temperature
        return Sampling(temperature, self.top_k, self.top_p)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"stop_strings": list(self.stop_strings)}

    def changed(self, **values: Any) -> Settings:
        """A copy with some checked values; raises `BadInput` as `checked` does."""
        return replace(self, **_checked_values({"rule": self.rule, "drafter": self.drafter} | values))

    @classmethod
    def checked(cls, **values: Any) -> Settings:
        """Settings from untrusted values.

        Integers may come as floats with no fraction (4.0), as browsers and JSON send them.
        Raises `BadInput` naming the field, the value and the limit.
        """
        return cls(**_checked_values(values))


def _checked_values(values: dict[str, Any]) -> dict[str, Any]:
    known = {field.name for field in fields(Settings)}
    for name in values:
        if name not in known:
            raise BadInput(
                "There is no setting {name}; the settings are {settings}.",
                name=shown(name), settings=", ".join(sorted(known)),
            )
    checked = {name: _CHECKS[name](name, value) for name, value in values.items()}
    rule, drafter = checked.get("rule"), checked.get("drafter", "model")
    if rule in MISREPORTING_RULES and drafter != "model":
        raise BadInput(
            "The rule {rule} needs the drafter model: a copy was not drawn from a law to be told wrongly.", rule=rule
        )
    return checked


def whole_number(name: str, value: Any, low: int, high: int) -> int:
    """`value` as an int in [low, high], or `BadInput`."""
    limit = Phrase("a whole number from {low} to {high}", low=low, high=high)
    number = _number(name, value, limit)
    if number != math.floor(number) or not low <= number <= high:
        raise _not(limit, name, value)
    return int(number)


def real_number(name: str, value: Any, low: float, high: float, *, above: bool = False) -> float:
    """`value` as a float in [low, high], or in (low, high] with `above`; else `BadInput`."""
    limit = Phrase("a number from {low:g} to {high:g}", low=low, high=high)
    if above:
        limit = Phrase("a number above {low:g} and up to {high:g}", low=low, high=high)
    number = _number(name, value, limit)
    if not low <= number <= high or (above and number == low):
        raise _not(limit, name, value)
    return float(number)


def choice(name: str, value: Any, keys: tuple[str, ...]) -> str:
    """`value` if it is one of `keys`, or `BadInput`."""
    if not is_a(value, str) or str.__str__(value) not in keys:
        raise BadInput(
            "{name} must be one of {keys}, not {value}.", name=name, keys=", ".join(keys), value=shown(value)
        )
    return str.__str__(value)


def is_a(value: Any, *kinds: type) -> bool:
    """Whether `value` really is one of `kinds`; unlike `isinstance`, asks nothing of a value that may lie or raise."""
    return issubclass(type(value), kinds)


def is_unicode(text: str) -> bool:
    """False for a text with half a surrogate pair: JSON can carry one; UTF-8, tokenizers and files can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: Any, limit: int = 40) -> str:
    """A value for an error sentence, cut so that hostile input can't fill the screen, and on one line."""
    try:
        text = str.__str__(repr(value))
    except Exception:  # a value's own fault, nesting too deep, or a whole number of thousands of digits
        return Phrase("a number of thousands of digits") if is_a(value, int) else Phrase("a value that can't be shown")
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _number(name: str, value: Any, limit: Phrase) -> float:
    if is_a(value, float) and math.isfinite(float.__float__(value)):
        return float.__float__(value)
    if is_a(value, int) and not is_a(value, bool):
        return int.__int__(value)
    raise _not(limit, name, value)


def _not(limit: Phrase, name: str, value: Any) -> BadInput:
    return BadInput("{name} must be {limit}, not {value}.", name=name, limit=limit, value=shown(value))


def _share(name: str, value: Any) -> float:
    return real_number(name, value, 0.0, 1.0, above=True)


def _optional_temperature(name: str, value: Any) -> float | None:
    return None if value is None else real_number(name, value, 0.0, MAX_TEMPERATURE)


def _boolean(name: str, value: Any) -> bool:
    if not is_a(value, bool):
        raise BadInput("{name} must be true or false, not {value}.", name=name, value=shown(value))
    return value


def _stop_strings(name: str, value: Any) -> tuple[str, ...]:
    texts = tuple(value) if type(value) in (list, tuple) else ("",)
    texts = tuple(str.__str__(text) if is_a(text, str) else "" for text in texts[: MAX_STOP_STRINGS + 1])
    if len(texts) > MAX_STOP_STRINGS or not all(0 < len(t) <= MAX_STOP_STRING_LENGTH and is_unicode(t) for t in texts):
        raise BadInput(
            "{name} must be a list of at most {most} texts of 1 to {longest} characters, not {value}.",
            name=name, most=MAX_STOP_STRINGS, longest=MAX_STOP_STRING_LENGTH, value=shown(value),
        )
    return texts


_CHECKS = {
    "temperature": lambda name, value: real_number(name, value, 0.0, MAX_TEMPERATURE),
    "top_k": lambda name, value: whole_number(name, value, 0, MAX_TOP_K),
    "top_p": _share,
    "draft_temperature": _optional_temperature,
    "gamma": lambda name, value: whole_number(name, value, 0, MAX_GAMMA),
    "rule": lambda name, value: choice(name, value, RULES),
    "drafter": lambda name, value: choice(name, value, DRAFTERS),
    "policy": lambda name, value: choice(name, value, POLICIES),
    "max_new_tokens": lambda name, value: whole_number(name, value, 1, MAX_NEW_TOKENS),
    "seed": lambda name, value: whole_number(name, value, 0, MAX_SEED),
    "chat": _boolean,
    "stop_strings": _stop_strings,
    "lenience": lambda name, value: real_number(name, value, MIN_LENIENCE, 1.0),
    "typical_epsilon": _share,
    "typical_delta": _share,
    "target_weight": _share,
    "confidence_threshold": lambda name, value: real_number(name, value, 0.0, 1.0),
    "entropy_threshold": lambda name, value: real_number(name, value, 0.0, MAX_ENTROPY),
    "draft_cost": lambda name, value: real_number(name, value, 0.0, MAX_COST),
    "token_cost": lambda name, value: real_number(name, value, 0.0, MAX_COST),
    "lookup_match": lambda name, value: whole_number(name, value, 1, MAX_LOOKUP_MATCH),
}
