"""`python -m specdec.distill {generate,train,train-head,evaluate,export}`: the way to a new bundled draft model."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from specdec.models.devices import use_threads
from specdec.models.weights import cache_folder, default_target_folder

if TYPE_CHECKING:
    from torch import Tensor

    from specdec.distill.batches import Dataset
    from specdec.distill.pupils import Pupil

FIT_TOKENS = 20_000


def main(arguments: list[str] | None = None) -> None:
    """Parse the command line and run one step."""
    options = _parser().parse_args(arguments)
    use_threads(options.threads)
    options.run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m specdec.distill", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="{generate,train,train-head,evaluate,export}")

    generate = commands.add_parser("generate", help="let the target write training data; goes on where it stopped")
    generate.add_argument("--texts", type=Path, help="folder of unpacked text packages, see corpus.py")
    generate.add_argument(
        "--extra", type=Path, help="conversations.npz that the target wrote earlier: score them first"
    )
    generate.add_argument("--chunks", type=int, default=40)
    generate.add_argument("--seed", type=int, default=1)
    generate.set_defaults(run=_generate)

    train = commands.add_parser("train", help="train the student on the data; goes on where it stopped")
    train.add_argument("--start", type=Path, help="student folder to start from; default: the bundled one")
    train.add_argument("--layers-of-target", type=int, nargs="+", help="start from these layers of the target instead")
    train.set_defaults(run=_train)

    head = commands.add_parser("train-head", help="train a head that is fed with the target's hidden states")
    head.add_argument("--layers-of-target", type=int, nargs="+", default=[29], help="start from these layers of it")
    head.add_argument(
        "--taps", type=int, nargs="+", default=[8, 20, 29], help="layers whose outputs are mixed, from 1; 0: embeddings"
    )
    head.add_argument("--unroll", type=int, default=4, help="places of a draft that are trained")
    head.set_defaults(run=_train_head)
    for command in (train, head):
        _add_recipe(command)

    evaluate = commands.add_parser("evaluate", help="acceptance on benchmark questions, with the engine")
    evaluate.add_argument("--questions", type=Path, required=True, help="a Spec-Bench question.jsonl")
    evaluate.add_argument("--per-category", type=int, help="the first so many of each category; default: all")
    evaluate.add_argument("--temperatures", type=float, nargs="+", default=[0.0, 1.0])
    evaluate.add_argument("--gamma", type=int, default=4)
    evaluate.add_argument("--max-new-tokens", type=int, default=64)
    evaluate.add_argument("--student", type=Path, help="student folder; default: the bundled one")
    evaluate.add_argument("--json", type=Path, help="also write the figures here")
    evaluate.set_defaults(run=_evaluate)

    export = commands.add_parser("export", help="write a checkpoint's draft model as checked shards")
    export.add_argument("--name", default="student", help="name of the run")
    export.add_argument("--to", type=Path, required=True, help="folder for the shards and the manifest")
    export.set_defaults(run=_export)

    for command in (generate, train, head, evaluate, export):
        command.add_argument(
            "--target", type=Path, help="target in transformers format; default: SmolLM2-135M-Instruct"
        )
        command.add_argument("--work", type=Path, default=cache_folder() / "distill", help="data and checkpoints")
        command.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
        command.add_argument(
            "--threads", type=int, help="CPU threads; default: torch's own choice, within the cores it may use"
        )
    return parser


def _add_recipe(command: argparse.ArgumentParser) -> None:
    """The arguments of any training."""
    command.add_argument(
        "--head-ids", type=int, help="new head over the commonest ids of the data; default: the start's head"
    )
    for name, kind in (
        ("steps", int),
        ("hours", float),
        ("learning-rate", float),
        ("decay", float),
        ("finish", float),
        ("batch-tokens", int),
        ("workers", int),
        ("evaluate-every", int),
        ("checkpoint-seconds", float),
        ("warmup", int),
        ("seed", int),
    ):
        command.add_argument(f"--{name}", type=kind)
    command.add_argument("--optimizer", choices=("muon", "adamw"))
    command.add_argument("--name", default="student", help="name of the run, for its checkpoint")


def _target(options: argparse.Namespace):  # type: ignore[no-untyped-def]
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = options.target or default_target_folder()
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).to(options.device).eval()
    return model, AutoTokenizer.from_pretrained(folder)


def _data_folders(work: Path) -> list[Path]:
    return sorted(path for path in (work / "data").glob("*") if path.is_dir())


def _generate(options: argparse.Namespace) -> None:
    from specdec.distill.corpus import read_corpus
    from specdec.distill.generate import GenerateSettings, generate, score

    if not options.texts and not options.extra:
        raise SystemExit("Say where to take data from: --texts FOLDER, --extra FILE, or both.")
    model, tokenizer = _target(options)
    if options.extra:
        score(model, options.extra, options.work / "data" / options.extra.stem)
    if options.texts:
        settings = GenerateSettings(chunks=options.chunks, seed=options.seed)
        generate(model, tokenizer, read_corpus(options.texts), options.work / "data" / f"seed-{options.seed}", settings)


def _train(options: argparse.Namespace) -> None:
    from specdec.distill.pupils import StudentPupil, layers_of
    from specdec.models.student import BUNDLED, build_student, read_student

    target, _ = _target(options)
    state, head_ids = read_student(options.start or BUNDLED)
    if options.layers_of_target:
        state = layers_of(target, options.layers_of_target)
    dataset, _ = _data(options, head_ids, target.config.vocab_size)
    _run_training(options, dataset, StudentPupil(build_student(target, state, dataset.head_ids)))


def _train_head(options: argparse.Namespace) -> None:
    from specdec.distill.first_head import first_feature_head
    from specdec.distill.pupils import HeadPupil
    from specdec.models.feature_head import build_feature_head
    from specdec.models.student import BUNDLED, read_student

    target, _ = _target(options)
    dataset, state = _data(options, read_student(BUNDLED)[1], target.config.vocab_size)
    if not state:
        texts = dataset.sample(FIT_TOKENS)
        state = first_feature_head(target, options.layers_of_target, tuple(options.taps), texts)
    head = build_feature_head(target, state, dataset.head_ids, options.taps)
    _run_training(options, dataset, HeadPupil(target, head, options.unroll))


def _data(options: argparse.Namespace, usual: Tensor, vocab_size: int) -> tuple[Dataset, dict[str, Tensor]]:
    """All data that is there, and the tensors of the run to go on from, none at its first start.

    usual: the ids to propose, unless the run has its own already or so many are asked for.
    """
    from specdec.distill.batches import Dataset
    from specdec.distill.data import chunk_paths, commonest_ids, load_chunk
    from specdec.distill.train import CHECKPOINT, read_checkpoint, trained_state

    chunks = [load_chunk(path) for folder in _data_folders(options.work) for path in chunk_paths(folder)]
    if not chunks:
        raise SystemExit(f"There is no data under {options.work / 'data'}; run `generate` first.")
    checkpoint = _run_folder(options) / CHECKPOINT
    if checkpoint.exists():
        tensors, _ = read_checkpoint(checkpoint)
        return Dataset(chunks, tensors["head_ids"].cpu(), vocab_size), trained_state(tensors)
    ids = torch.from_numpy(commonest_ids(chunks, options.head_ids)) if options.head_ids else usual
    return Dataset(chunks, ids, vocab_size), {}


def _run_folder(options: argparse.Namespace) -> Path:
    return options.work / "runs" / options.name


def _run_training(options: argparse.Namespace, dataset: Dataset, pupil: Pupil) -> None:
    from specdec.distill.train import Trainer, TrainSettings

    given = {field.name: getattr(options, field.name, None) for field in dataclasses.fields(TrainSettings)}
    settings = TrainSettings(**{name: value for name, value in given.items() if value is not None})
    trainer = Trainer(pupil, dataset, settings, _run_folder(options))
    resumed = trainer.resume()
    print(
        f"{dataset.answer_tokens} answer tokens in {len(dataset.training)} rows; "
        f"{'goes on at' if resumed else 'starts at'} step {trainer.step}",
        flush=True,
    )
    trainer.run()


def _evaluate(options: argparse.Namespace) -> None:
    from specdec.distill.evaluate import evaluate, read_questions
    from specdec.models.catalogue import is_head_folder
    from specdec.models.feature_draft import reading_pair
    from specdec.models.feature_head import load_feature_head
    from specdec.models.pairs import Pair, PairInfo, eos_ids_of
    from specdec.models.student import BUNDLED, load_student
    from specdec.models.transformers_model import TransformersModel
    from specdec.settings import Settings

    network, tokenizer = _target(options)
    folder, target = (options.student or BUNDLED).resolve(), TransformersModel(network)
    if is_head_folder(str(folder)):
        target, draft = reading_pair(target, load_feature_head(network, folder), "student")
    else:
        draft = TransformersModel(load_student(network, folder))
    pair = Pair(
        info=PairInfo("distilled", "target", "student", target.vocab_size),
        target=target,
        draft=draft,
        tokenizer=tokenizer,
        eos_ids=eos_ids_of(network, tokenizer),
        dtype="bfloat16",
    )
    questions = read_questions(options.questions, options.per_category)
    figures = {}
    for temperature in options.temperatures:
        settings = Settings.checked(temperature=temperature, gamma=options.gamma, max_new_tokens=options.max_new_tokens)
        figures[f"T={temperature:g}"] = evaluate(pair, questions, settings)
        for name, report in figures[f"T={temperature:g}"].items():
            print(f"T={temperature:g} {name}: {json.dumps(report)}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _export(options: argparse.Namespace) -> None:
    from specdec.distill.train import CHECKPOINT, read_checkpoint, trained_state
    from specdec.models.feature_head import save_feature_head
    from specdec.models.student import save_student

    tensors, about = read_checkpoint(_run_folder(options) / CHECKPOINT)
    state = trained_state(tensors)
    base = {"base": "HuggingFaceTB/SmolLM2-135M-Instruct", "license": "Apache-2.0"}
    if "taps" in tensors:
        save_feature_head(options.to, state, tensors["head_ids"], tensors["taps"].tolist(), base)
    else:
        save_student(options.to, state, tensors["head_ids"], base)
    curve = {"settings": about["settings"], "curve": about["curve"]}
    (options.to / "learning_curve.json").write_text(json.dumps(curve, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
