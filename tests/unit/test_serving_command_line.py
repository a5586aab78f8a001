"""The owner's own models: what the command line of app.py takes, what it refuses, and what visitors see of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from specdec.models.catalogue import CATALOGUE, PairSpec
from specdec.settings import BadInput, Settings
from tests.offering import offering
from visualizations.serving import loading
from visualizations.serving.command_line import Options, read_command_line
from visualizations.serving.first_pair import first_choice, offered, startable
from visualizations.serving.inputs import CUSTOM, PairChoice, pair_choice
from visualizations.step_through.examples import examples

ROOT = Path(__file__).parents[2]
WORDS = ["<unk>", "cat", "dog", "sat", "on", "the", "mat", "."]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A working directory with two folders that look like models."""
    for name in ("big", "small", "other/big"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def own(*arguments: str) -> PairSpec:
    (spec,) = read_command_line(arguments).pairs
    return spec


def test_without_options_nothing_is_added():
    assert read_command_line([]) == Options((), None)
    assert read_command_line(["--port", "8000"]) == Options((), 8000)
    assert read_command_line(["--runs", "16"]) == Options((), None, 16)


def test_two_folders_become_a_pair_that_shows_their_last_names_only(here):
    spec = own("--target", "./big/", "--draft", str(here / "small"), "--dtype", "bfloat16", "--device", "cpu")
    assert (spec.target, spec.draft) == (str(here / "big"), str(here / "small"))
    assert (spec.key, spec.title, spec.dtype, spec.device) == ("big+small", "big ← small", "bfloat16", "cpu")
    assert own("--target", "big", "--draft", "big").title == "big ← big"
    assert own("--target", "big", "--draft", "other/big").title == "big ← big (draft)"


def test_hub_ids_and_no_draft_at_all(here):
    spec = own("--target", "owner/large", "--draft", "owner/little")
    assert (spec.target, spec.draft, spec.title) == ("owner/large", "owner/little", "owner/large ← owner/little")
    assert (spec.dtype, spec.device) == ("auto", "auto")
    spec = own("--target", "big", "--draft", "none")
    assert (spec.key, spec.draft, spec.title) == ("big", None, "big ← prompt lookup")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "big"], "--target needs --draft"),
        (["--draft", "small"], "--draft needs --target"),
        (["--dtype", "float32"], "need --target and --draft"),
        (["--device", "cpu"], "need --target and --draft"),
        (["--target", "big", "--draft", "gone"], "--draft must be a folder, or a Hub id"),
        (["--target", "none", "--draft", "none"], "--target must be a folder, or a Hub id"),
        (["--target", "/no/such/folder", "--draft", "none"], "--target must be a folder, or a Hub id"),
        (["--target", "big/config.json", "--draft", "none"], "--target must be a folder, or a Hub id"),
        (["--target", "", "--draft", "none"], "--target must be a folder, or a Hub id"),
        (["--target", "other", "--draft", "none"], "no model in the folder other"),
        (["--target", "broken", "--draft", "none"], "The model in the folder broken is damaged: config.json"),
        (["--target", "two\nlines", "--draft", "none"], "--target is a folder whose name can't be shown"),
        (["--target", "custom", "--draft", "none"], "Another pair is called custom"),
        (["--target", "smollm2-135m", "--draft", "student"], "Another pair is called smollm2-135m"),
        (["--target", "big", "--draft", "none", "--dtype", "int8"], "--dtype"),
        (["--target", "big", "--draft", "none", "--device", "tpu"], "no device 'tpu' here"),
        (["--port", "0"], "--port"),
        (["--port", "65536"], "--port"),
        (["--port", "9" * 99], "--port"),
        (["--port", "http"], "--port"),
        (["--runs", "0"], "--runs"),
        (["--runs", "many"], "--runs"),
        (["--models", "x"], "--models"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_what_cannot_be_used_ends_with_the_usage_and_one_sentence(here, capsys, arguments, words):
    for name in ("custom", "smollm2-135m", "student", "broken", "two\nlines"):
        (here / name).mkdir()
        (here / name / "config.json").write_text("{" if name == "broken" else "{}")
    with pytest.raises(SystemExit) as end:
        read_command_line(arguments)
    usage, _, sentence = capsys.readouterr().err.rpartition("python app.py: error: ")
    assert end.value.code == 2 and usage.startswith("usage: python app.py")
    assert words in sentence and sentence.count("\n") == 1


def test_the_app_says_what_its_options_are_and_refuses_before_it_starts():
    told = subprocess.run([sys.executable, "app.py", "--help"], cwd=ROOT, capture_output=True, text=True)
    help_text = " ".join(told.stdout.split())
    assert told.returncode == 0
    for words in (
        "--target OWNER/NAME_OR_FOLDER your target model:",
        "--draft OWNER/NAME_OR_FOLDER|none the model that drafts for it",
        "--dtype {auto,float32,bfloat16,float16} the number format",
        "--device DEVICE where your two models compute",
        "--port PORT the page's port",
    ):
        assert words in help_text
    refused = subprocess.run([sys.executable, "app.py", "--target", "a/b"], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 2 and "--target needs --draft" in refused.stderr and refused.stdout == ""


def test_the_page_begins_with_the_own_pair_and_copies_where_nothing_else_can_draft(here):
    assert offered(examples()[0].choice) == examples()[0].choice
    with offering(own("--target", "big", "--draft", "none")) as spec:
        assert first_choice() == offered(examples()[0].choice) == PairChoice("big") and first_choice().title == spec.title
        assert offered(PairChoice("smollm2-135m+itself")) == PairChoice("smollm2-135m+itself")
        for example in examples():
            assert startable(example.settings, first_choice()).drafter == "prompt_lookup"
            assert startable(example.settings, example.choice) == example.settings
    with offering(own("--target", "big", "--draft", "small")):
        assert startable(Settings(), first_choice()) == Settings()


def test_a_visitor_may_choose_the_own_pair_and_still_no_folder(here):
    with offering(own("--target", "big", "--draft", "small")) as spec:
        assert pair_choice("big+small") == PairChoice("big+small")
        for target in (spec.target, "big", "other/big", "./big"):
            with pytest.raises(BadInput, match="^target must be a Hub id"):
                pair_choice(CUSTOM, target, "a/b")
            with pytest.raises(BadInput, match="^pair must be one of"):
                pair_choice(target)
    assert "big+small" not in CATALOGUE


def test_folders_are_loaded_as_the_owner_said_and_nobody_is_asked_for_them(tmp_path, saved, monkeypatch):
    place = tmp_path / "place"
    folders = ["--target", saved(place / "big", WORDS), "--draft", saved(place / "small", WORDS, seed=1)]
    asked, said = [], []
    monkeypatch.setattr(loading, "hub_is_reachable", lambda: asked.append("Hub"))
    monkeypatch.setattr("specdec.models.pairs.hub_is_reachable", lambda: asked.append("Hub"))
    for dtype in ("float32", "bfloat16"):
        with offering(own(*folders, "--dtype", dtype, "--device", "cpu")):
            pair = loading.load_in_turn(first_choice(), said.append)
        assert (pair.dtype, pair.info.name, pair.target.device.type) == (dtype, "big+small", "cpu")
    assert asked == [] and said and not [step for step in said if "place" in step.message]
    with offering(own(*folders[:2], "--draft", "none")):
        assert loading.load_in_turn(first_choice(), said.append).draft is None
