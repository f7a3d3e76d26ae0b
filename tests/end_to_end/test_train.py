"""``dragoman train`` from raw text, and the warm-up tasks of the field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from dragoman import bundle
from dragoman.batches.batch import pad_sources
from dragoman.corpus.tasks import generate
from dragoman.decoding.greedy import greedy
from dragoman.model.transformer import Transformer
from dragoman.tokenize.tokenizer import Tokenizer

pytestmark = pytest.mark.slow


def exact_match(run: Path, task: str, n: int = 10_000) -> float:
    """The share of unseen sequences that a run solves, every symbol right."""
    found = bundle.read_bundle(run)
    model = Transformer(found.config.model).eval()
    model.load_state_dict({name: torch.from_numpy(w) for name, w in found.weights.items()})
    tokenizer = Tokenizer.load(found.tokenizer_dir)
    examples = list(generate(task, n, split="test", seed=1))
    rows = tokenizer.encode_batch([example.src for example in examples])
    outputs = tokenizer.decode_batch(greedy(model, pad_sources(rows)))
    return sum(o == e.tgt for o, e in zip(outputs, examples, strict=True)) / n


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_a_warm_up_task_is_solved_on_unseen_sequences(dragoman, tmp_path, task):
    dragoman("train", "--task", task, "--out", tmp_path / task)
    assert exact_match(tmp_path / task, task) >= 0.999


def test_a_run_leaves_a_bundle_and_the_record_that_others_read(dragoman, tmp_path):
    out = tmp_path / "run"
    done = dragoman("train", "--task", "copy", "--steps", 20, "--out", out, "--json")
    record = json.loads((out / "record.json").read_text())
    assert json.loads(done.stdout) == record
    keys = "config seed versions data params steps tokens seconds tokens_per_second peak_rss_mb"
    assert set(keys.split()) | {"best", "history_file"} <= record.keys()
    assert record["steps"] == 20
    assert record["task"] == "copy"
    assert record["best"].keys() == {"step", "val_loss", "val_bleu"}
    assert {"files", "sentences"} <= record["data"].keys()
    assert (out / "training.png").stat().st_size > 1000
    assert list((out / "tensorboard").iterdir())
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    logged = [line for line in lines if "loss" in line]
    assert {"step", "loss", "lr", "tokens_per_second", "seconds"} <= logged[0].keys()
    assert {"val_loss", "val_ppl", "val_bleu"} <= lines[-1].keys()


def test_files_become_a_bundle_and_a_slice_is_held_out_and_said(dragoman, tmp_path):
    examples = list(generate("numbers", 300, seed=5))
    (tmp_path / "t.src").write_text("".join(e.src + "\n" for e in examples), encoding="utf-8")
    (tmp_path / "t.tgt").write_text("".join(e.tgt + "\n" for e in examples), encoding="utf-8")
    files = ["--src", tmp_path / "t.src", "--tgt", tmp_path / "t.tgt"]
    small = ["--set", "data.vocab_size=300", "--steps", 5, "--out", tmp_path / "run"]
    told = dragoman("train", *files, *small).stderr
    assert "10 pairs are held out" in told
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    names = [Path(file["path"]).name for file in record["data"]["files"]]
    assert names == ["t.src", "t.tgt"]
    assert all(len(file["sha256"]) == 64 for file in record["data"]["files"])


def test_fine_tuning_starts_from_the_bundle_and_keeps_its_tokenizer(dragoman, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    dragoman("train", "--task", "copy", "--steps", 60, "--out", first)
    args = ["train", "--task", "reverse", "--steps", 2, "--out", second, "--init", first]
    dragoman(*args, "--set", "train.learning_rate=1e-9")
    before, after = bundle.read_bundle(first), bundle.read_bundle(second)
    for name, weight in before.weights.items():
        assert abs(weight - after.weights[name]).max() < 1e-4, name
    old, new = Tokenizer.load(before.tokenizer_dir), Tokenizer.load(after.tokenizer_dir)
    assert old.fingerprint() == new.fingerprint()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "copi"], "copy"),
        (["--set", "train.stepz=3", "--task", "copy"], "steps"),
        (["--src", "missing.de", "--tgt", "missing.en"], "missing.de"),
        ([], "no corpus was named"),
        (["--task", "copy", "--device", "tpu9"], "tpu9"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(dragoman, tmp_path, arguments, message):
    told = dragoman("train", *arguments, "--out", tmp_path / "run", code=2).stderr
    assert message in told
    assert "Traceback" not in told
    assert not (tmp_path / "run").exists()


def test_a_folder_in_use_is_left_alone(dragoman, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("mine")
    told = dragoman("train", "--task", "copy", "--out", tmp_path / "run", code=2).stderr
    assert "not empty" in told
    assert "--resume" in told
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.txt"]


def test_a_loss_that_is_not_a_number_stops_the_run_and_names_the_step(dragoman, tmp_path):
    out = tmp_path / "run"
    wild = ["--set", "train.learning_rate=1e30", "--set", "train.clip_norm=0", "--steps", 50]
    told = dragoman("train", "--task", "copy", *wild, "--out", out, code=1).stderr
    assert "NaN or infinite at step" in told
    assert "clip_norm" in told


def test_two_processes_train_as_one_would(torchrun, environment, dragoman, tmp_path):
    import subprocess

    args = ["train", "--task", "copy", "--steps", 300, "--seed", 2]
    command = torchrun(2, *args, "--out", tmp_path / "two")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert exact_match(tmp_path / "two", "copy", 200) >= 0.9


def test_an_error_on_one_rank_ends_all_with_its_message(torchrun, environment, tmp_path):
    import subprocess

    args = ["train", "--task", "copy", "--set", "train.learning_rate=1e30"]
    command = torchrun(2, *args, "--set", "train.clip_norm=0", "--out", tmp_path / "two")
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode != 0
    assert "NaN or infinite at step" in done.stderr
