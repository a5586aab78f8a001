"""Devices and number formats: what is named is what is used, and what isn't there is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from specdec.models import devices
from specdec.models.devices import bfloat16_pays, pick_device, pick_dtype, synchronise
from specdec.settings import BadInput

CPU = torch.device("cpu")


@pytest.fixture
def timed(monkeypatch):
    """timed(bfloat16, float32): seconds that a layer takes, in place of a measurement."""

    def set_seconds(bfloat16: float, float32: float) -> None:
        seconds = {torch.bfloat16: bfloat16, torch.float32: float32}
        monkeypatch.setattr(devices, "_layer_seconds", lambda dtype, device: seconds[dtype])
        bfloat16_pays.cache_clear()

    yield set_seconds
    bfloat16_pays.cache_clear()


@pytest.mark.parametrize(
    ("bfloat16", "float32", "expected"),
    [(1.0, 2.0, torch.bfloat16), (2.0, 1.0, torch.float32), (1.0, 1.0, torch.float32)],
    ids=["faster", "slower", "equal"],
)
def test_auto_takes_bfloat16_only_where_it_was_measured_to_be_faster(timed, bfloat16, float32, expected):
    timed(bfloat16, float32)
    assert pick_dtype("auto", CPU) == expected


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_a_named_format_is_taken_whatever_is_fast(timed, name):
    timed(1.0, 9.0)
    assert pick_dtype(name, CPU) == getattr(torch, name)


@pytest.mark.parametrize("name", ["int8", "float64", "", None, "load", np.array(["auto", "auto"]), [], b"auto"])
def test_an_unknown_format_is_refused(name):
    with pytest.raises(BadInput, match="dtype"):
        pick_dtype(name, CPU)


@pytest.mark.parametrize("name", ["tpu", "", "meta", "cuda:99", "cpu!", None, 3.5, np.array(["cpu", "cpu"]), b"cpu", 7, "\ud800", "x" * 999])
def test_a_device_that_is_not_here_is_refused(name):
    with pytest.raises(BadInput, match="no device"):
        pick_device(name)


def test_auto_prefers_a_graphics_processor(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pick_device("auto").type == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device("auto").type == "mps"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert pick_device("auto") == CPU == pick_device("cpu")


def test_the_processor_needs_no_waiting_and_a_real_measurement_runs():
    synchronise(CPU)
    assert isinstance(bfloat16_pays(CPU), bool)
