"""``dragoman average``: the mean of checkpoints becomes the model of the run or a new bundle."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.bundle import read_bundle, write_bundle
from dragoman.cli.main import main
from dragoman.config import Config, ModelConfig
from dragoman.training.checkpoint import Checkpoint, checkpoint_path, save_checkpoint
from dragoman.training.state import TrainState, Validated

MODEL = ModelConfig(d_model=4, n_heads=2, d_ff=6, n_layers=1, vocab_size=7)
STEPS = (10, 20, 30, 40)
BLEU = {5: 50.0, 10: 11.0, 20: 14.0, 30: 12.0, 40: 13.0}  # the best step, 5, was not kept


def save_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


@pytest.fixture
def run(tmp_path) -> Path:
    """A run whose weight at step s is s, and whose model is that of the best step."""
    folder = tmp_path / "run"
    validations = []
    for step, bleu in BLEU.items():
        validations.append(Validated(step, val_loss=1.0, val_bleu=bleu))
        state = TrainState(step=step, validations=list(validations))
        if step in STEPS:
            weights = {"w": torch.full((3,), float(step))}
            save_checkpoint(folder, Checkpoint(weights, {}, state))
    write_bundle(
        folder,
        config=Config(model=MODEL),
        weights={"w": np.zeros(3, np.float32)},
        save_tokenizer=save_tokenizer,
        record={"seed": 7, "chosen": {"from": "best step", "step": 5}},
    )
    return folder


def weight(folder: Path) -> float:
    values = set(read_bundle(folder).weights["w"].tolist())
    assert len(values) == 1
    return values.pop()


def test_the_last_become_the_model_of_the_run(capsys, run):
    assert main(["average", str(run), "--last", "2"]) == 0
    out, err = capsys.readouterr()
    assert weight(run) == 35.0
    record = read_bundle(run).record
    assert record["chosen"]["from"] == "average"
    assert record["chosen"]["steps"] == [30, 40]
    assert record["seed"] == 7
    assert out == f"{run}\n"
    assert "the mean of 2 checkpoints (steps 30, 40)" in err


def test_the_checkpoints_stay(run):
    main(["average", str(run), "--last", "2"])
    assert main(["average", str(run), "--last", "4"]) == 0
    assert weight(run) == 25.0


def test_without_a_number_the_last_five_are_taken_or_what_there_is(run):
    assert main(["average", str(run)]) == 0
    assert read_bundle(run).record["chosen"]["steps"] == [10, 20, 30, 40]


def test_the_best_are_those_that_validated_best_and_what_is_gone_is_said(capsys, run):
    assert main(["average", str(run), "--best", "2", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"out": str(run), "steps": [20, 40]}
    assert weight(run) == 30.0
    assert "steps 5 validated better" in err


def test_a_new_bundle_leaves_the_run_as_it_is(run, tmp_path):
    out = tmp_path / "new" / "mean"
    assert main(["average", str(run), "--last", "1", "-o", str(out)]) == 0
    assert weight(out) == 40.0
    assert weight(run) == 0.0
    assert read_bundle(run).record["chosen"]["from"] == "best step"
    assert not (out / "checkpoints").exists()
    assert read_bundle(out).config == read_bundle(run).config


def test_a_run_that_was_stopped_before_it_had_a_model_gets_one(run):
    (run / "model.safetensors").unlink()
    (run / "record.json").unlink()
    assert main(["average", str(run), "--last", "2"]) == 0
    assert weight(run) == 35.0


def test_scores_of_another_model_are_not_left_standing(run):
    main(["average", str(run), "--last", "2"])
    chosen = read_bundle(run).record["chosen"]
    assert (chosen["val_loss"], chosen["val_bleu"]) == (None, None)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--last", "9"], "9 checkpoints were asked for, and"),
        (["--last", "9"], "has 4 (steps 10, 20, 30, 40)"),
        (["--best", "5"], "5 validated checkpoints were asked for, and"),
        (["--last", "1", "--best", "1"], "give one of them"),
    ],
)
def test_what_cannot_be_is_refused_and_says_what_there_is(capsys, run, args, message):
    assert main(["average", str(run), *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert weight(run) == 0.0


def test_a_bundle_without_checkpoints_is_refused(capsys, run, tmp_path):
    main(["average", str(run), "-o", str(tmp_path / "bare")])
    for choice in ("--last", "--best"):
        assert main(["average", str(tmp_path / "bare"), choice, "1"]) == 2
        assert "no checkpoints in" in capsys.readouterr().err


def test_what_is_there_is_not_overwritten(capsys, run, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    assert main(["average", str(run), "-o", str(tmp_path / "mine")]) == 2
    assert "exists already" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_a_damaged_checkpoint_is_named_and_the_model_stays(capsys, run):
    (checkpoint_path(run, 30) / "model.safetensors").write_bytes(b"x")
    assert main(["average", str(run), "--last", "2"]) == 2
    assert "step-00000030" in capsys.readouterr().err
    assert weight(run) == 0.0


def test_no_run_at_all_is_said(capsys, tmp_path):
    assert main(["average", str(tmp_path / "none")]) == 2
    assert "no such bundle or run" in capsys.readouterr().err
