"""Every value from outside is accepted or refused in one sentence that names it."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

from specdec.settings import BadInput, Phrase, Settings

REFUSED = [
    ("gamma", 3.5),
    ("gamma", None),
    ("gamma", ""),
    ("gamma", "4"),
    ("gamma", -1),
    ("gamma", 17),
    ("gamma", True),
    ("gamma", math.nan),
    ("gamma", math.inf),
    ("gamma", [4]),
    ("max_new_tokens", None),
    ("max_new_tokens", 0),
    ("max_new_tokens", 10**9),
    ("top_k", ""),
    ("top_k", -1),
    ("top_k", 2.5),
    ("temperature", -1),
    ("temperature", None),
    ("temperature", "hot"),
    ("temperature", 10.5),
    ("temperature", math.nan),
    ("temperature", math.inf),
    ("draft_temperature", -0.1),
    ("draft_temperature", math.nan),
    ("top_p", 0),
    ("top_p", -0.1),
    ("top_p", 1.1),
    ("top_p", math.nan),
    ("seed", 1e12),
    ("seed", -1),
    ("seed", 0.5),
    ("rule", "lossless"),
    ("rule", None),
    ("rule", []),
    ("drafter", "oracle"),
    ("policy", "adaptive"),
    ("chat", "yes"),
    ("chat", 1),
    ("stop_strings", "END"),
    ("stop_strings", [""]),
    ("stop_strings", [3]),
    ("stop_strings", ["x"] * 9),
    ("stop_strings", ["x" * 65]),
    ("stop_strings", None),
]


@pytest.mark.parametrize(("field", "value"), REFUSED)
def test_a_bad_value_is_refused_in_one_sentence_with_its_field_and_value(field, value):
    with pytest.raises(BadInput) as refusal:
        Settings.checked(**{field: value})
    message = str(refusal.value)
    assert message.startswith(field) and repr(value)[:30] in message
    assert message.endswith(".") and "\n" not in message


@pytest.mark.parametrize(
    ("field", "limits"),
    [
        ("gamma", ("0", "16")),
        ("max_new_tokens", ("1", "512")),
        ("top_k", ("0", "1000")),
        ("temperature", ("0", "10")),
        ("top_p", ("0", "1")),
        ("seed", ("0", "4294967295")),
        ("rule", ("token", "match")),
        ("drafter", ("model", "prompt_lookup")),
    ],
)
def test_the_refusal_states_the_limits(field, limits):
    with pytest.raises(BadInput) as refusal:
        Settings.checked(**{field: -5})
    assert all(limit in str(refusal.value) for limit in limits)


@pytest.mark.parametrize("field", ["gamma", "top_k", "seed", "max_new_tokens"])
def test_a_whole_number_may_come_as_a_float(field):
    value = getattr(Settings.checked(**{field: 4.0}), field)
    assert value == 4 and isinstance(value, int)


@pytest.mark.parametrize(
    ("field", "value"),
    [("gamma", 0), ("gamma", 16), ("temperature", 0), ("top_p", 1), ("top_p", 1e-8), ("seed", 2**32 - 1), ("top_k", 0)],
)
def test_the_limits_themselves_are_accepted(field, value):
    assert getattr(Settings.checked(**{field: value}), field) == value


def test_an_unknown_setting_is_named():
    with pytest.raises(BadInput, match="'gama'"):
        Settings.checked(gama=4)


def test_a_huge_hostile_value_does_not_fill_the_message():
    with pytest.raises(BadInput) as refusal:
        Settings.checked(rule="<script>" * 10_000)
    assert len(str(refusal.value)) < 300


def test_changed_checks_its_values_too():
    settings = Settings.checked(gamma=3)
    assert settings.changed(seed=5.0) == Settings(gamma=3, seed=5)
    with pytest.raises(BadInput, match="temperature"):
        settings.changed(temperature=-1)


def test_the_draft_inherits_the_temperature_and_shares_the_filters():
    settings = Settings(temperature=0.7, top_k=5, top_p=0.9)
    assert settings.draft_sampling == settings.target_sampling
    warmer = settings.changed(draft_temperature=1.5)
    assert warmer.draft_sampling.temperature == 1.5 and warmer.target_sampling.temperature == 0.7
    assert (warmer.draft_sampling.top_k, warmer.draft_sampling.top_p) == (5, 0.9)
    assert settings.changed(draft_temperature=0).draft_sampling.temperature == 0


def test_settings_survive_json():
    settings = Settings.checked(stop_strings=["END", "\n\n"], draft_temperature=0, seed=7)
    assert Settings.checked(**json.loads(json.dumps(settings.to_dict()))) == settings


@pytest.mark.parametrize("module", ["specdec", "specdec.settings", "specdec.trace.record", "specdec.models.pairs", "specdec.models.weights"])
def test_reading_settings_and_traces_never_waits_for_torch(module):
    code = f"import sys, {module}; sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'gradio')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


class Raising:
    """Refuses every question that may be asked of a value."""

    def _refuse(self, *args):
        raise RuntimeError("hostile")

    __eq__ = __hash__ = __repr__ = __len__ = __iter__ = __bool__ = __float__ = __int__ = __index__ = __str__ = _refuse
    __class__ = property(_refuse)


class Lying(Raising):
    __class__ = str


def raising(kind: type, value: object) -> object:
    """A `kind` with that value whose own methods all raise."""
    names = ("__eq__", "__hash__", "__repr__", "__len__", "__iter__", "__lt__", "__le__", "__float__", "__bool__")
    return type("Hostile", (kind,), dict.fromkeys(names, Raising._refuse))(value)


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


HOSTILE = {
    "array": np.array(["token", "match"]),
    "array of one": np.array([4.0]),
    "empty array": np.array([]),
    "large array": np.zeros((50, 50)),
    "dict": {"token": 1},
    "set": {"token"},
    "bytes": b"token",
    "raising": Raising(),
    "lying": Lying(),
    "raising list": raising(list, ["a", "b"]),
    "list of raising": [Raising()],
    "NaN": math.nan,
    "infinity": -math.inf,
    "NaN of numpy": np.float64("nan"),
    "huge": 10**5000,
    "huge and negative": -(10**400),
    "complex": 1j,
    "deep": nested(100_000),
    "function": len,
    "class": str,
    "long": "x" * 10**6,
    "lines": "a\nb\u2028c",
    "half a character": "\ud800",
}


@pytest.mark.parametrize("kind", HOSTILE)  # by name: pytest asks too much of the values
@pytest.mark.parametrize("field", Settings.__dataclass_fields__)
def test_whatever_object_is_given_for_a_setting_is_refused_in_one_sentence(field, kind):
    for check in (Settings.checked, Settings().changed):
        with pytest.raises(BadInput) as refusal:
            check(**{field: HOSTILE[kind]})
        message = str(refusal.value)
        assert message.startswith(f"{field} must be ") and message.endswith(".")
        assert len(message) < 300 and message.isprintable() and message.encode()


def test_a_value_of_a_kind_of_its_own_is_taken_as_the_plain_value_that_it_is():
    made = Settings.checked(
        rule=raising(str, "match"),
        gamma=raising(int, 3),
        temperature=raising(float, 0.5),
        top_p=np.float64(0.5),
        drafter=np.str_("model"),
        stop_strings=[raising(str, "END")],
    )
    assert made == Settings(rule="match", gamma=3, temperature=0.5, top_p=0.5, stop_strings=("END",))
    assert {type(value) for value in made.to_dict().values()} <= {str, int, float, bool, list, type(None)}


def test_a_long_name_of_no_setting_does_not_fill_the_message():
    with pytest.raises(BadInput) as refusal:
        Settings.checked(**{"x" * 10_000: 1})
    assert len(str(refusal.value)) < 400


def test_a_number_too_long_to_write_out_is_refused_in_words():
    with pytest.raises(BadInput, match="seed must be a whole number"):
        Settings.checked(seed=10**5000)


def test_half_a_character_is_no_stop_string():
    with pytest.raises(BadInput, match="stop_strings must be"):
        Settings.checked(stop_strings=["\ud800"])


def test_a_refusal_keeps_what_its_sentence_is_made_of():
    with pytest.raises(BadInput) as refused:
        Settings.checked(temperature="hot")
    said = refused.value.phrase
    assert said == str(refused.value) == "temperature must be a number from 0 to 10, not 'hot'."
    assert said.template == "{name} must be {limit}, not {value}."
    assert said.values["limit"].template == "a number from {low:g} to {high:g}"
    assert said.values["limit"].values == {"low": 0.0, "high": 10.0}


@pytest.mark.parametrize(
    "refusal", [BadInput("a {b}, {c:.1f}", b=Phrase("{d}", d="{e}"), c=2), BadInput("as it is: {x} {")]
)
def test_a_refusal_reaches_another_process_whole(refusal):
    again = pickle.loads(pickle.dumps(refusal))
    assert type(again) is BadInput and str(again) == str(refusal)
    assert (again.phrase.template, again.phrase.values) == (refusal.phrase.template, refusal.phrase.values)


def test_what_comes_from_outside_is_never_read_as_a_template():
    hostile = "{0.__class__} {value} {"
    assert str(BadInput("not {value}", value=hostile)) == f"not {hostile}"
    assert str(BadInput(hostile)) == hostile
