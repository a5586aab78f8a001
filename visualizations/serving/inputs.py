"""Checks of what a visitor may ask for besides the settings: which two models, and the prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec.models.catalogue import CATALOGUE
from specdec.models.pairs import MAX_PROMPT_CHARACTERS
from specdec.settings import BadInput, Settings, choice, shown
from specdec.trace.record import PairInfo
from specdec.trace.trace import Trace, check_identities, check_settings

CUSTOM = "custom"
MAX_HUB_ID_LENGTH = 96

_HUB_ID = re.compile(r"[A-Za-z0-9_][\w.-]*/[A-Za-z0-9_][\w.-]*", re.ASCII)


@dataclass(frozen=True)
class PairChoice:
    """A catalogue key (then target and draft are empty), or `CUSTOM` with two Hub ids."""

    key: str
    target: str = ""
    draft: str = ""

    @property
    def title(self) -> str:
        """How the choice is named in a sentence."""
        return f"{self.target} ← {self.draft}" if self.key == CUSTOM else CATALOGUE[self.key].title


def pair_choice(pair: Any, target: Any = "", draft: Any = "") -> PairChoice:
    """A checked choice from untrusted values; `BadInput` names what is wrong with them."""
    key = choice("pair", pair, (*CATALOGUE, CUSTOM))
    if key != CUSTOM:
        return PairChoice(key)
    return PairChoice(CUSTOM, hub_id("target", target), hub_id("draft", draft))


def choice_of(pair: PairInfo) -> PairChoice:
    """The choice that loads the pair of a recorded run; `BadInput` where no choice does."""
    if pair.name in CATALOGUE:
        return PairChoice(pair.name)
    target, _, draft = pair.name.partition("+")
    try:
        return pair_choice(CUSTOM, target, draft)
    except BadInput:
        raise BadInput(
            "The models of this run, {name}, are not offered here; go on with the settings above instead.",
            name=shown(pair.name),
        ) from None


def hub_id(name: str, value: Any) -> str:
    """`value` if it can only be an id on the Hub. A path on this machine never passes."""
    text = value.strip() if isinstance(value, str) else ""
    ok = len(text) <= MAX_HUB_ID_LENGTH and _HUB_ID.fullmatch(text) and ".." not in text
    if not ok or Path(text).exists():
        raise BadInput(
            "{name} must be a Hub id such as owner/model of at most {most} characters, not {value}.",
            name=name, most=MAX_HUB_ID_LENGTH, value=shown(value),
        )
    return text


def checked_prompt(value: Any) -> str:
    """`value` if it is a text that a run may begin with, before any model is asked."""
    if not isinstance(value, str):
        raise BadInput("prompt must be text, not {value}.", value=shown(value))
    if not value:
        raise BadInput("prompt is empty: it needs at least one character.")
    if len(value) > MAX_PROMPT_CHARACTERS:
        raise BadInput(
            "prompt has {count:,} characters; the limit is {limit:,}.", count=len(value), limit=MAX_PROMPT_CHARACTERS
        )
    return value


def checked_flag(name: str, value: Any) -> bool:
    """`value` if it is true or false."""
    if not isinstance(value, bool):
        raise BadInput("{name} must be true or false, not {value}.", name=name, value=shown(value))
    return value


def checked_settings(settings: Settings) -> Settings:
    """Settings that came from elsewhere, checked as those of a visitor."""
    return Settings.checked(**settings.to_dict())


def checked_trace(trace: Trace) -> Trace:
    """A run that came from elsewhere, checked as a file that is opened."""
    checked_settings(trace.settings)
    check_identities(trace)
    check_settings(trace)
    return trace
