"""Training the feature head: what the target gives it, its loss, resumption, the schedule by time, export."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from specdec.distill.__main__ import main
from specdec.distill.batches import Dataset
from specdec.distill.data import pack
from specdec.distill.first_head import first_feature_head
from specdec.distill.pupils import HeadPupil, taken
from specdec.distill.teacher import Teacher
from specdec.distill.train import BEFORE_DECAY, CHECKPOINT, Trainer, TrainSettings, decay, read_checkpoint, stable_end
from specdec.models.feature_head import build_feature_head, load_feature_head

VOCAB, STOP, TAPS = 64, 2, (0, 1, 3)
HEAD_IDS = torch.arange(0, VOCAB, 2)
SETTINGS = TrainSettings(steps=8, warmup=2, batch_tokens=200, optimizer="adamw")


@pytest.fixture(scope="module")
def target(tiny_llama):
    return tiny_llama(seed=5, num_hidden_layers=3, num_key_value_heads=2)


@pytest.fixture(scope="module")
def dataset(target):
    prompts = [[3 + (7 * row + place) % 60 for place in range(4 + row % 5)] for row in range(32)]
    rows = Teacher(target, keep=8).write(prompts, [1.0] * 32, [1] * 32, 12, STOP, 1)
    return Dataset([pack(rows, ["qa", "maths"] * 16, [1.0] * 32)], HEAD_IDS, VOCAB)


@pytest.fixture(scope="module")
def first(target, dataset):
    return first_feature_head(target, [2], TAPS, dataset.sample(400))


@pytest.fixture
def trainer(target, dataset, first, tmp_path):
    def build(name="run", unroll=3, **changes):
        state = {name: tensor.clone() for name, tensor in first.items()}
        head = build_feature_head(target, state, HEAD_IDS, TAPS)
        return Trainer(HeadPupil(target, head, unroll), dataset, replace(SETTINGS, **changes), tmp_path / name)

    return build


@torch.no_grad()
def test_what_is_taken_are_the_targets_hidden_states_before_its_final_norm(target):
    ids = torch.randint(0, VOCAB, (2, 9), generator=torch.Generator().manual_seed(0))
    states = target(ids, output_hidden_states=True).hidden_states
    found = taken(target, ids, TAPS)
    torch.testing.assert_close(found[:, :, 0], states[0])
    torch.testing.assert_close(found[:, :, 1], states[1])
    torch.testing.assert_close(target.model.norm(found[:, :, 2]), states[3])


@torch.no_grad()
def test_the_first_head_gives_its_layer_nearly_what_the_target_does(target, dataset, first):
    head = build_feature_head(target, first, HEAD_IDS, TAPS)
    ids = torch.cat(dataset.sample(300, seed=1))[None, :60]
    states = taken(target, ids, (*TAPS, 2))[0]
    features = torch.nn.functional.pad(head.mixed(states[:-1, :-1]), (0, 0, 1, 0))
    given, got = [], states[:, -1]
    hook = head.layers[0].input_layernorm.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0]))
    head.extend(ids[0], features, head.new_cache(), 0)
    hook.remove()
    near, far = (torch.cosine_similarity(given[0][0, 1:], other).mean() for other in (got[1:], got[1:].roll(7, 0)))
    assert near > far + 0.1


def test_a_resumed_run_equals_an_uninterrupted_one(trainer):
    whole, first, second = trainer("whole"), trainer("parts"), trainer("parts")
    for _ in range(6):
        whole.train_step()
    for _ in range(2):
        first.train_step()
    first.save()
    assert second.resume() and second.step == 2
    for _ in range(4):
        second.train_step()
    for name, master in whole.masters.items():
        assert torch.equal(master, second.masters[name]), name


def test_training_helps_every_step_of_the_draft_and_leaves_the_target_alone(trainer, target, dataset):
    before = {name: tensor.clone() for name, tensor in target.state_dict().items()}
    run = trainer(steps=24, learning_rate=1e-2, finish=0.0, evaluate_every=12)
    batch = dataset.batch(dataset.training[:8], None)
    first = run.pupil.loss(batch, 1.0)[1]
    run.run()
    assert (run.pupil.loss(batch, 1.0)[1] - first).min() > 0.02
    assert [point["step"] for point in run.curve] == [12, 24]
    assert {"all", "qa", "maths", "step1", "step2", "step3"} < run.curve[-1].keys()
    assert run.curve[-1]["all"] == run.curve[-1]["step1"]
    assert all(torch.equal(tensor, before[name]) for name, tensor in target.state_dict().items())


def test_features_of_the_text_reach_the_head(trainer, dataset, monkeypatch):
    pupil, batch = trainer().pupil, dataset.batch(dataset.training[:8], None)
    heard, _ = pupil.loss(batch, 0.0)
    monkeypatch.setattr("specdec.distill.pupils.taken", lambda *given: torch.ones_like(taken(*given)))
    deaf, _ = pupil.loss(batch, 0.0)
    assert (deaf - heard).abs() > 1e-2


def test_a_training_by_time_ends_decayed_and_leaves_a_checkpoint_to_go_on_from(trainer, monkeypatch):
    run = trainer(steps=1_000_000, hours=1.0, decay=0.25, finish=0.2, evaluate_every=10**9)
    clock, ends = SimpleNamespace(now=0.0), iter([2699.0, 2701.0, 3600.0])
    rates, step = [], run.train_step

    def seen_step():
        rates.append(decay(run.place, run.settings))
        found, clock.now = step(), next(ends)
        return found

    monkeypatch.setattr("specdec.distill.train.time", SimpleNamespace(monotonic=lambda: clock.now))
    run.train_step = seen_step
    run.run()
    assert rates == pytest.approx([1.0, 1.0, 0.95 * (899 / 900) + 0.05])
    assert decay(run.place, run.settings) == pytest.approx(0.05)
    assert stable_end(run.settings) == 750_000
    assert read_checkpoint(run.folder / BEFORE_DECAY)[1]["step"] == 2
    assert read_checkpoint(run.folder / CHECKPOINT)[1]["step"] == 3


def test_an_exported_head_is_the_trained_one(trainer, target, tmp_path):
    run = trainer("runs/head")
    run.train_step()
    run.save()
    main(["export", "--work", str(tmp_path), "--name", "head", "--to", str(tmp_path / "out"), "--threads", "1"])
    loaded = load_feature_head(target, tmp_path / "out")
    assert loaded.taps == TAPS
    assert torch.equal(loaded.norm.weight, run.masters["norm.weight"].bfloat16().float())
    assert json.loads((tmp_path / "out" / "learning_curve.json").read_text())["settings"]["steps"] == 8
