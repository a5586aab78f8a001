"""ZeroGPU, as far as it can be tested without one: one decorated generator a piece of work, plain data in."""

import importlib
import pickle
import sys
import threading
from functools import partial
from types import SimpleNamespace

import pytest

from specdec.models.table import TableModel
from visualizations.serving import zero_gpu
from visualizations.serving.inputs import PairChoice
from visualizations.serving.runner import ModelShelf

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


def test_nothing_that_was_not_asked_for_runs_on_a_borrowed_gpu(calls, pair_of):
    pair = pair_of(TableModel([0.5, 0.5]))
    shelf, begun = ModelShelf(lambda choice, note: pair), []
    assert shelf.request(CHOICE).finished.wait(10)
    assert shelf.beside(pair.info.name, begun.append, threading.Event()) is None
    assert calls == begun == []
