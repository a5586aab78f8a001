"""ZeroGPU, as far as it can be tested without one: one decorated generator a piece of work, plain data in."""

import importlib
import pickle
import sys
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

from specdec.models.table import TableModel
from specdec.settings import BadInput
from tests.doing import Doing, nothing
from visualizations.serving import zero_gpu
from visualizations.serving.backend import WORK_SECONDS, run_seconds
from visualizations.serving.inputs import PairChoice
from visualizations.serving.shelf import ModelShelf
from visualizations.text import spoken, t

CHOICE = PairChoice("smollm2-135m+student")


def count(pair, upto):
    yield from (f"{pair} {number}" for number in range(upto))


@pytest.fixture
def calls(monkeypatch):
    """Calls that reached a stand-in for `spaces.GPU`: its arguments went through pickle, as to a worker."""
    seen = []

    def gpu(task, duration):
        def call(*arguments):
            seen.append(duration(*arguments))
            return task(*pickle.loads(pickle.dumps(arguments)))

        return call

    monkeypatch.setitem(sys.modules, "spaces", SimpleNamespace(GPU=gpu))
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    importlib.reload(zero_gpu)
    yield seen
    monkeypatch.undo()
    importlib.reload(zero_gpu)


def test_the_work_is_decorated_before_the_launch(calls):
    assert zero_gpu._BORROWED is not zero_gpu._in_worker


def test_a_piece_of_work_is_one_call_that_asks_for_its_own_seconds(calls):
    assert list(zero_gpu.run(CHOICE, "pair", partial(count, upto=3), 12)) == ["pair 0", "pair 1", "pair 2"]
    assert calls == [12]


def test_a_worker_without_the_pair_loads_its_own(calls, monkeypatch):
    monkeypatch.setattr("visualizations.serving.zero_gpu.load_choice", lambda choice, progress: "loaded")
    steps = zero_gpu.run(CHOICE, "pair", partial(count, upto=1), 12)
    zero_gpu._LENT.clear()
    assert list(steps) == ["loaded 0"]


def test_elsewhere_work_runs_where_it_is(calls, monkeypatch):
    monkeypatch.delenv("SPACES_ZERO_GPU")
    assert list(zero_gpu.run(CHOICE, "pair", lambda pair: iter([pair]), 12)) == ["pair"]
    assert not calls


# As several versions of `spaces` say it: title and message.
REFUSALS = [
    ("ZeroGPU quota exceeded", "You have exceeded your free ZeroGPU quota (12s requested vs. 7s left). Try again in 3:10:00."),
    ("ZeroGPU quota exceeded", "Space app has reached its GPU limit. Duplicate this Space."),
    ("ZeroGPU pending credits exceeded", "You have too many ZeroGPU credits allocated to running tasks."),
    ("ZeroGPU illegal duration", "The requested GPU duration (60s) is larger than the maximum allowed"),
    ("ZeroGPU queue timeout", "No GPU was available after 60 seconds. Retry later"),
    ("ZeroGPU client error", "No GPU is currently available for you"),
    ("Error", "You have exceeded your GPU quota (60s requested vs. 56s left)."),
]


class HTMLError(gr.Error):
    """`spaces` raises one of its own where the message has markup."""


def failing(pair, error, after=0):
    yield from range(after)
    raise error


def words_of(calls, error, after=0):
    steps = zero_gpu.run(CHOICE, "pair", partial(failing, error=error, after=after), 12)
    assert [next(steps) for _ in range(after)] == list(range(after))
    with pytest.raises(BadInput) as refusal:
        next(steps)
    assert calls == [12]
    return str(refusal.value)


@pytest.mark.parametrize(("title", "message"), REFUSALS)
@pytest.mark.parametrize("kind", [gr.Error, HTMLError])
def test_a_refused_gpu_is_told_in_one_sentence_that_offers_the_recorded_runs(calls, kind, title, message):
    assert words_of(calls, kind(message, title=title)) == t("app.gpu.refused")
    assert "examples" in t("app.gpu.refused")


def test_a_gpu_that_was_taken_back_is_told_apart(calls):
    error = gr.Error("GPU task aborted", title="ZeroGPU worker error")
    assert words_of(calls, error, after=2) == t("app.gpu.taken_back")


@pytest.mark.parametrize(
    "error", [gr.Error("ValueError", title="ZeroGPU worker error"), gr.Error("No such pair."), RuntimeError("GPU quota")]
)
def test_what_failed_by_itself_is_no_refusal(calls, error):
    with pytest.raises(type(error)) as raised:
        list(zero_gpu.run(CHOICE, "pair", partial(failing, error=error), 12))
    assert str(raised.value) == str(error)


def test_both_languages_tell_it(calls):
    with spoken(("zh",)):
        said = words_of(calls, gr.Error(REFUSALS[0][1], title=REFUSALS[0][0]))
    assert "GPU" in said and "示例" in said


@pytest.mark.parametrize("tokens", [1, 64, 256])
def test_a_run_asks_for_little_and_for_more_the_longer_it_is(tokens):
    assert tokens * 0.05 < run_seconds(tokens) <= 6 + tokens * 0.1
    assert run_seconds(tokens) < run_seconds(tokens + 1)


def test_the_seconds_are_those_that_the_document_tells():
    told = (Path(__file__).parents[2] / "docs" / "spaces.md").read_text("utf-8")
    assert f"{run_seconds(48):g} for a run of 48 tokens" in told and f"asks for {WORK_SECONDS:g} seconds" in told


def test_nothing_that_was_not_asked_for_runs_on_a_borrowed_gpu(calls, pair_of):
    pair = pair_of(TableModel([0.5, 0.5]))
    shelf, begun = ModelShelf(lambda choice, note: pair), []
    list(shelf.using(CHOICE, Doing(nothing), threading.Event()))
    calls.clear()
    assert shelf.beside(pair.info.name, Doing(begun.append), threading.Event()) is None
    assert calls == begun == []
