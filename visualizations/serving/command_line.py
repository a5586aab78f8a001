"""The command line of app.py: the owner's own pair of models, the page's port, and where the models run.

Only here may a model be a folder. Whoever starts the app may read the folder anyway; a visitor may not.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec.models.catalogue import CATALOGUE, PairSpec, key_of, names_of
from specdec.models.pairs import refuse_damaged_folder
from specdec.settings import DTYPES, BadInput, Phrase, shown
from visualizations.serving.inputs import CUSTOM, hub_id
from visualizations.serving.ray.command_line import add_options, cluster_of
from visualizations.serving.ray.config import Cluster
from visualizations.serving.slots import MOST_RUNS

NO_DRAFT = "none"
LAST_PORT = 65_535
_MODEL = "OWNER/NAME_OR_FOLDER"


@dataclass(frozen=True)
class Options:
    """Checked: the pairs to offer before all others, one or none; the port, None for the first that is free; and how many
    runs may have models at once, None for as many as fit.

    cluster: of Ray, where the models run instead of in this process.
    """

    pairs: tuple[PairSpec, ...]
    port: int | None
    runs: int | None = None
    cluster: Cluster | None = None


def read_command_line(arguments: Sequence[str]) -> Options:
    """What the arguments ask for. Where they can't be used, the process ends with the usage, one sentence and code 2."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        return Options(_own_pair(given), given.port, given.runs, cluster_of(given))
    except BadInput as refusal:
        parser.error(str(refusal))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python app.py",
        description="Start the web page. It opens with the bundled pair of models, or with yours.",
    )
    parser.add_argument(
        "--target", metavar=_MODEL, help="your target model: its id on the Hugging Face Hub, or the folder it is saved in; needs --draft"
    )
    parser.add_argument(
        "--draft",
        metavar=f"{_MODEL}|{NO_DRAFT}",
        help=f"the model that drafts for it and has the same tokenizer; {NO_DRAFT} leaves copying from the text as the only way to draft",
    )
    parser.add_argument(
        "--dtype", choices=DTYPES, help="the number format of your two models; auto, the default, takes the one that is fast on the device"
    )
    parser.add_argument(
        "--device", help="where your two models compute: cpu, cuda, cuda:1, mps and so on; auto, the default, takes the best one there is"
    )
    parser.add_argument("--port", type=_port, help="the page's port; without it, the first free one from 7860 on")
    parser.add_argument(
        "--runs",
        type=_runs,
        help="how many visitors' runs may have the models at once; without it, as many as fit this machine's memory",
    )
    add_options(parser)
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= LAST_PORT):
        raise argparse.ArgumentTypeError(f"it must be a whole number from 1 to {LAST_PORT:,}, not {shown(text)}.")
    return int(text)


def _runs(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST_RUNS):
        raise argparse.ArgumentTypeError(f"it must be a whole number from 1 to {MOST_RUNS}, not {shown(text)}.")
    return int(text)


def _own_pair(given: argparse.Namespace) -> tuple[PairSpec, ...]:
    """The pair that was named, if any."""
    if given.target is None and given.draft is None:
        if given.dtype is not None or given.device is not None:
            raise BadInput("--dtype and --device are for models of your own, so they need --target and --draft.")
        return ()
    if given.draft is None:
        raise BadInput("--target needs --draft: a model with the same tokenizer, or {none}.", none=NO_DRAFT)
    if given.target is None:
        raise BadInput("--draft needs --target: the model that it drafts for.")
    target = _source("--target", given.target)
    draft = None if given.draft == NO_DRAFT else _source("--draft", given.draft)
    return (_spec(target, draft, given.dtype or "auto", _device(given.device or "auto")),)


def _source(option: str, value: str) -> str:
    """A Hub id, or the absolute path of a folder that holds a model."""
    if os.path.isdir(value):
        folder = Path(os.path.abspath(value))
        if not folder.name.isprintable():
            raise BadInput("{option} is a folder whose name can't be shown; rename it.", option=option)
        refuse_damaged_folder(folder, folder.name)
        return str(folder)
    try:
        return hub_id(option, value)
    except BadInput:
        raise BadInput(
            "{option} must be a folder, or a Hub id such as owner/model, and {value} is neither.",
            option=option, value=shown(value),
        ) from None


def _device(name: str) -> str:
    if name != "auto":
        from specdec.models.devices import pick_device  # here, because it costs torch

        pick_device(name)
    return name


def _spec(target: str, draft: str | None, dtype: str, device: str) -> PairSpec:
    big, small = names_of(target, draft)
    title = f"{big} ← {small}" if small else Phrase("{target} ← prompt lookup", target=big)
    spec = PairSpec(key_of(big, small), title, target, draft, "named on the command line", dtype, device)
    if spec.key == CUSTOM or CATALOGUE.get(spec.key, spec) != spec:
        raise BadInput("Another pair is called {key} already; rename a folder.", key=spec.key)
    return spec
