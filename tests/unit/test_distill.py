"""Distillation: the batched writer, the fused loss, batches, exact resumption, counting."""

import random

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specdec.distill import teacher
from specdec.distill.batches import Dataset
from specdec.distill.corpus import Corpus
from specdec.distill.data import commonest_ids, load_chunk, pack, save_chunk
from specdec.distill.evaluate import Tally, read_questions
from specdec.distill.losses import head_loss
from specdec.distill.prompts import LONG_KINDS, SHORT_KINDS, Sources, make_prompts
from specdec.distill.pupils import StudentPupil, layers_of
from specdec.distill.teacher import Teacher, Written, draw
from specdec.distill.train import Trainer, TrainSettings, decay, finish_share, warm_up
from specdec.models.student import build_student

VOCAB, STOP = 60, 2
HEAD_IDS = torch.arange(0, VOCAB, 2, dtype=torch.int32)
NEEDS_MUON = pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="torch.optim.Muon came with torch 2.9")
CORPUS = Corpus(
    ["Some prose about a bridge. " * 8], ["Das ist ein kurzer Satz."], ["Ada Byron"], ["Oslo"], ["lamp", "rope"]
)


@pytest.fixture(scope="module")
def target():
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        tie_word_embeddings=True,
        initializer_range=0.3,
    )
    return LlamaForCausalLM(config).eval()


def prompts(lengths, seed=0):
    chance = random.Random(seed)
    return [[chance.randrange(3, VOCAB) for _ in range(length)] for length in lengths]


def write(target, lengths=(5, 9, 7), temperatures=(0.0, 1.0, 0.7), seed=1):
    return Teacher(target, keep=8).write(prompts(lengths), temperatures, [1] * len(lengths), 12, STOP, seed)


@pytest.fixture(scope="module")
def chunk(target):
    lengths = [4 + row % 5 for row in range(40)]
    return pack(write(target, lengths, [row % 3 / 2 for row in range(40)]), ["qa"] * 40, [1.0] * 40)


# The writer


def test_kept_distributions_are_the_models_own_whatever_the_padding(target):
    for row in write(target):
        logprobs = target(torch.tensor([row.ids])).logits[0, :-1].log_softmax(-1)
        best = logprobs.topk(8)
        torch.testing.assert_close(row.top_logprobs.float(), best.values, atol=5e-3, rtol=1e-3)
        torch.testing.assert_close(logprobs.gather(1, row.top_ids.long()), best.values)


def test_scoring_a_text_gives_what_was_kept_while_it_was_written(target):
    rows = write(target)
    scored = Teacher(target, keep=8).score([row.ids for row in rows], [row.prompt_length for row in rows])
    for row, again in zip(rows, scored, strict=True):
        assert (again.ids, again.prompt_length) == (row.ids, row.prompt_length)
        torch.testing.assert_close(again.top_logprobs, row.top_logprobs, atol=5e-3, rtol=1e-3)


def test_blocks_and_equal_neighbours_change_nothing(target, monkeypatch):
    asked = [first := prompts([9])[0], first, first, prompts([11], seed=4)[0], first]
    whole = Teacher(target, keep=8).write(asked, [1.0] * 5, [1] * 5, 12, STOP, 1)
    monkeypatch.setattr(teacher, "PREFILL_BLOCK", 4)
    monkeypatch.setattr(teacher, "PREFILL_ROWS", 2)
    blocks = Teacher(target, keep=8).write(asked, [1.0] * 5, [1] * 5, 12, STOP, 1)
    assert [row.ids[: row.prompt_length] for row in whole] == asked
    assert len({tuple(row.ids) for row in whole}) == 5
    for one, other in zip(whole, blocks, strict=True):
        assert one.ids == other.ids
        torch.testing.assert_close(one.top_logprobs, other.top_logprobs, atol=5e-3, rtol=1e-3)
        exact = target(torch.tensor([one.ids])).logits[0, :-1].log_softmax(-1).topk(8).values
        torch.testing.assert_close(one.top_logprobs.float(), exact, atol=5e-3, rtol=1e-3)


def test_a_prompt_that_begins_with_the_padding_is_no_equal_neighbour(target):
    for row in Teacher(target, keep=8).write([[STOP, 7, 8], [7, 8]], [1.0] * 2, [1] * 2, 3, STOP, 1):
        exact = target(torch.tensor([row.ids])).logits[0, :-1].log_softmax(-1).topk(8).values
        torch.testing.assert_close(row.top_logprobs.float(), exact, atol=5e-3, rtol=1e-3)


def test_temperature_zero_takes_the_likeliest_token(target):
    row = write(target)[0]
    answer = torch.tensor(row.ids[row.prompt_length :])
    assert torch.equal(row.top_ids[row.prompt_length - 1 :, 0].long(), answer)


def test_a_row_ends_with_its_stop_and_the_others_go_on(target):
    rows = write(target, (6,) * 24, (1.0,) * 24)
    answers = [row.ids[row.prompt_length :] for row in rows]
    assert any(answer[-1] == STOP and len(answer) < 12 for answer in answers)
    assert all(STOP not in answer[:-1] for answer in answers)
    assert all(len(answer) == 12 or answer[-1] == STOP for answer in answers)


def test_the_same_seed_writes_the_same(target):
    first, again, other = write(target), write(target), write(target, seed=2)
    assert [row.ids for row in first] == [row.ids for row in again] != [row.ids for row in other]


def test_draws_follow_the_distribution_also_outside_the_kept_ids():
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0, 0.5]]).repeat(20_000, 1)
    uniforms = (torch.arange(20_000) + 0.5) / 20_000
    tokens = draw(logits, logits.topk(2).indices, torch.full((20_000,), 0.8), uniforms)
    found = torch.bincount(tokens, minlength=5) / 20_000
    torch.testing.assert_close(found, (logits[0] / 0.8).softmax(-1), atol=2e-4, rtol=0)


# The loss


def loss_inputs(n=300, k=6):
    chance = torch.Generator().manual_seed(0)
    hidden = torch.randn(n, 16, generator=chance, requires_grad=True)
    rows = torch.randn(40, 16, generator=chance)
    teacher = torch.randn(n, 40, generator=chance).softmax(-1)
    probs, index = teacher.topk(k)
    return hidden, rows, index, probs, torch.rand(n, generator=chance)


@pytest.mark.parametrize("finish", [0.0, 0.4, 1.0])
def test_fused_loss_and_gradient_equal_the_plain_ones(finish):
    hidden, rows, index, probs, weights = loss_inputs()
    loss, overlap = head_loss(hidden, rows, index, probs, weights, finish)
    loss.backward()
    fused, hidden.grad = hidden.grad, None

    logprobs = (hidden @ rows.T).log_softmax(-1).gather(1, index)
    both = torch.minimum(probs, logprobs.exp()).sum(1)
    each = (1 - finish) * -(probs * logprobs).sum(1) + finish * (1 - both)
    plain = (weights * each).sum() / weights.sum()
    plain.backward()
    torch.testing.assert_close(loss, plain)
    torch.testing.assert_close(overlap, (weights * both).sum() / weights.sum())
    torch.testing.assert_close(fused, hidden.grad, atol=1e-6, rtol=1e-4)


def test_a_perfect_student_overlaps_fully_and_has_no_gradient():
    hidden, rows, *_ = loss_inputs(20)
    probs = (hidden @ rows.T).softmax(-1).detach()
    index = torch.arange(40).repeat(20, 1)
    for finish in (0.0, 1.0):
        hidden.grad = None
        loss, overlap = head_loss(hidden, rows, index, probs, torch.ones(20), finish)
        loss.backward()
        assert float(overlap) == pytest.approx(1.0, abs=1e-5)
        # Rounding decides which of two equal numbers is the smaller, so only the first loss has a gradient of zero.
        if finish == 0.0:
            assert hidden.grad.abs().max() < 1e-6


# Data and batches


def test_a_chunk_survives_the_disk(tmp_path, chunk):
    save_chunk(tmp_path / "chunk-0000.npz", chunk)
    again = load_chunk(tmp_path / "chunk-0000.npz")
    assert all(np.array_equal(value, getattr(again, name)) for name, value in vars(chunk).items())
    assert [path.name for path in tmp_path.iterdir()] == ["chunk-0000.npz"]


def test_a_batch_pairs_each_position_with_the_teachers_next_ids(chunk):
    dataset = Dataset([chunk], HEAD_IDS, VOCAB)
    row = dataset.training[3]
    batch = dataset.batch([dataset.training[0], row], None)
    assert batch.ids[1, : row.length].tolist() == chunk.ids[row.start : row.start + row.length].tolist()
    longest = batch.ids.shape[1]
    mine = batch.positions >= longest
    assert (batch.positions[mine] - longest).tolist() == list(range(row.prompt_length - 1, row.length - 1))
    first_ids = chunk.top_ids[row.start + row.prompt_length - 1]
    inside = np.isin(first_ids, HEAD_IDS.numpy())
    probs, index = batch.teacher_probs[mine][0].numpy(), batch.teacher_index[mine][0]
    assert (probs[~inside] == 0).all()
    assert HEAD_IDS[index][torch.from_numpy(inside)].tolist() == first_ids[inside].tolist()


def test_training_and_held_out_rows_are_disjoint_and_a_plan_has_each_row_once(chunk):
    dataset = Dataset([chunk], HEAD_IDS, VOCAB)
    assert not {row.start for row in dataset.training} & {row.start for row in dataset.held_out}
    plan = dataset.plan(epoch=0, seed=1, budget=100)
    assert sorted(index for rows in plan for index in rows) == list(range(len(dataset.training)))
    assert all(len(rows) * max(dataset.training[index].length for index in rows) <= 100 for rows in plan)
    assert plan == dataset.plan(0, 1, 100) != dataset.plan(1, 1, 100)


def test_commonest_ids_are_those_of_the_teachers_mass():
    logprobs = torch.log(torch.tensor([[0.7, 0.3], [0.6, 0.4]])).half()
    row = Written([5, 6, 7], 1, torch.tensor([[9, 4], [9, 3]], dtype=torch.int32), logprobs)
    assert commonest_ids([pack([row], ["qa"], [1.0])], 2).tolist() == [3, 9]


def test_commonest_ids_leave_prompts_out():
    logprobs = torch.log(torch.tensor([[0.9, 0.1], [0.6, 0.4]])).half()
    row = Written([5, 6, 7], 2, torch.tensor([[8, 4], [9, 3]], dtype=torch.int32), logprobs)
    assert commonest_ids([pack([row, row], ["qa"] * 2, [1.0] * 2)], 2).tolist() == [3, 9]


def test_two_answers_to_one_prompt_are_on_the_same_side(chunk):
    dataset = Dataset([chunk], HEAD_IDS, VOCAB)
    held_out = [np.flatnonzero(chunk.starts == row.start)[0] for row in dataset.held_out]
    assert held_out == [6, 7]
    assert len(dataset.training) == 38


def test_prompts_have_every_kind_and_depend_on_the_seed_alone():
    sources = Sources(CORPUS, ["A text by the target."], [("Why?", "Because.")])
    shares = {**SHORT_KINDS, **LONG_KINDS, "raw": 5}
    made = make_prompts(400, shares, sources, random.Random(1))
    assert {prompt.kind for prompt in made} == set(shares)
    assert (
        made
        == make_prompts(400, shares, sources, random.Random(1))
        != make_prompts(400, shares, sources, random.Random(2))
    )
    assert all("{" not in message for prompt in made for message in prompt.messages if prompt.kind != "coding")


# Training


def trainer(target, chunk, folder, optimizer="muon", steps=12, workers=1):
    student = build_student(target, layers_of(target, [0, 2]), HEAD_IDS)
    settings = TrainSettings(steps=steps, warmup=2, batch_tokens=200, workers=workers, optimizer=optimizer)
    return Trainer(StudentPupil(student), Dataset([chunk], HEAD_IDS, VOCAB), settings, folder)


@pytest.mark.parametrize(("optimizer", "workers"), [pytest.param("muon", 2, marks=NEEDS_MUON), ("adamw", 1)])
def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path, target, chunk, optimizer, workers):
    whole = trainer(target, chunk, tmp_path / "whole", optimizer, workers=workers)
    for _ in range(12):
        whole.train_step()
    first = trainer(target, chunk, tmp_path / "parts", optimizer, workers=workers)
    for _ in range(5):
        first.train_step()
    first.save()
    second = trainer(target, chunk, tmp_path / "parts", optimizer, workers=workers)
    assert second.resume() and second.step == 5
    for _ in range(7):
        second.train_step()
    assert second.trained_tokens == whole.trained_tokens
    for name, master in whole.masters.items():
        assert torch.equal(master, second.masters[name]), name


@NEEDS_MUON
def test_training_mends_a_damaged_student_and_leaves_the_embeddings_alone(tmp_path, target, chunk):
    embeddings = target.get_input_embeddings().weight.detach().clone()
    noise = torch.Generator().manual_seed(1)
    damaged = {
        name: tensor + 0.1 * torch.randn(tensor.shape, generator=noise)
        for name, tensor in layers_of(target, [0, 1, 2]).items()
    }
    every_id = torch.arange(VOCAB)
    settings = TrainSettings(steps=30, warmup=2, batch_tokens=200, evaluate_every=10, learning_rate=1e-3)
    pupil = StudentPupil(build_student(target, damaged, every_id))
    run = Trainer(pupil, Dataset([chunk], every_id, VOCAB), settings, tmp_path)
    before = run.held_out()["all"]
    run.run()
    assert run.held_out()["all"] > before + 0.02
    assert [point["step"] for point in run.curve] == [10, 20, 30]
    assert torch.equal(target.get_input_embeddings().weight, embeddings)


def test_schedule_warms_up_stays_and_decays_while_the_finish_sets_in():
    settings = TrainSettings(steps=1000, warmup=10, decay=0.2, finish=0.2)
    assert warm_up(0, settings) == pytest.approx(0.1)
    assert warm_up(9, settings) == warm_up(500, settings) == 1.0
    assert decay(500, settings) == 1.0
    assert decay(900, settings) == pytest.approx(0.525)
    assert finish_share(799, settings) == 0.0
    assert finish_share(830, settings) == 1.0


# Evaluation


def test_only_tested_drafts_count():
    tally = Tally()
    tally.add(tested=2, accepted=1, overlaps=[0.9, 0.3], emitted=2)
    tally.add(tested=4, accepted=4, overlaps=[1.0] * 4, emitted=5)
    report = tally.report()
    assert report["acceptance"] == pytest.approx(5 / 6, abs=1e-4)
    assert report["by_place"] == [1.0, 0.5, 1.0, 1.0]
    assert report["overlap"] == pytest.approx(5.2 / 6, abs=1e-4)
    assert report["tokens_per_round"] == 3.5


def test_questions_are_the_first_turns_and_the_first_of_each_category(tmp_path):
    file = tmp_path / "question.jsonl"
    file.write_text(
        '{"category": "qa", "turns": ["a", "x"]}\n'
        '{"category": "qa", "turns": ["b"]}\n'
        '{"category": "maths", "turns": ["c"]}\n'
    )
    assert [question.text for question in read_questions(file, 1)] == ["a", "c"]
    assert len(read_questions(file, None)) == 3
