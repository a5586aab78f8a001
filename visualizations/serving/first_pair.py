"""The pair that the page opens with: the owner's own, if one was put before the others, else the default."""

from __future__ import annotations

from specdec.models.catalogue import CATALOGUE, DEFAULT_PAIR, first_pair
from specdec.settings import Settings
from visualizations.serving.inputs import CUSTOM, PairChoice


def first_choice() -> PairChoice:
    """What is preselected, and loaded in the background."""
    return PairChoice(first_pair())


def offered(choice: PairChoice) -> PairChoice:
    """The pair to run an example with: whoever brings models of their own means them in place of the default."""
    return first_choice() if choice.key == DEFAULT_PAIR else choice


def startable(settings: Settings, choice: PairChoice) -> Settings:
    """`settings` to begin with, which the pair can run: where it has no draft model, copying drafts."""
    copies = choice.key != CUSTOM and CATALOGUE[choice.key].draft is None
    return settings.changed(drafter="prompt_lookup") if copies else settings
