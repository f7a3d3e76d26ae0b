from __future__ import annotations

import json

import pytest
import torch

from dragoman import bundle
from dragoman.config_loading import load_config
from dragoman.decoding.loading import load
from dragoman.runs import training_run
from dragoman.runs.listing import list_runs
from dragoman.runs.setup import TrainRequest
from dragoman.runs.training_run import train
from dragoman.training import trainer
from dragoman.training.averaging import average_weights
from dragoman.training.checkpoint import checkpoint_path, list_steps, load_weights
from dragoman.training.metrics import read_metrics

SMALL = ["data.tokenizer=symbols", "model.d_model=8", "model.n_heads=2", "model.d_ff=8"]
SMALL += ["model.n_layers=1", "train.batch_tokens=250", "train.log_every=1", "train.steps=6"]
SMALL += ["train.validate_every=2", "train.warmup_steps=2"]


def request(corpus, out, *overrides, **more) -> TrainRequest:
    loaded = load_config(overrides=[*SMALL, *overrides])
    return TrainRequest(out=out, loaded=loaded, train=corpus, **more)


def test_a_run_becomes_a_bundle_with_metrics_checkpoints_and_a_picture(corpus, tmp_path):
    outcome = train(request(corpus, tmp_path / "run"))
    out = outcome.out
    assert outcome.reason == "steps"
    assert bundle.read_bundle(out).record == json.loads(json.dumps(outcome.record))
    assert list_steps(out) == [2, 4, 6]
    assert [line["step"] for line in read_metrics(out) if "loss" in line] == [1, 2, 3, 4, 5, 6]
    assert [line["step"] for line in read_metrics(out) if "val_loss" in line] == [2, 4, 6]
    assert (out / "training.png").read_bytes()[:4] == b"\x89PNG"


def test_a_run_with_a_large_vocabulary_makes_a_shortlist(corpus, tmp_path, monkeypatch):
    assert not (train(request(corpus, tmp_path / "small")).out / "shortlist.safetensors").exists()
    monkeypatch.setattr(training_run, "LEAST_VOCABULARY", 2)
    out = train(request(corpus, tmp_path / "large")).out
    with_list, without = load(out, shortlist=True), load(out)
    # So few symbols are all frequent: nothing is left out.
    assert with_list.translate(["1 2 3"])[0].text == without.translate(["1 2 3"])[0].text


def test_the_bundle_holds_the_weights_that_the_record_names(corpus, tmp_path):
    for average in (0, 3):
        out = tmp_path / f"average-{average}"
        chosen = train(request(corpus, out, f"train.average={average}")).record["chosen"]
        if chosen["from"] == "average":
            expected = average_weights(out, chosen["steps"])
        else:
            expected = load_weights(checkpoint_path(out, chosen["step"]))
        found = bundle.read_bundle(out).weights
        assert all(torch.equal(torch.from_numpy(found[n]), w) for n, w in expected.items())


def test_steps_in_two_parts_are_the_steps_in_one(corpus, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    constant = ["train.schedule=constant", "model.dropout=0.2"]
    train(request(corpus, whole, *constant))
    train(request(corpus, parts, *constant, "train.steps=4"))
    train(request(corpus, parts, *constant, "train.steps=6", resume=True))
    weights = [load_weights(checkpoint_path(run, 6)) for run in (whole, parts)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    losses = [[line["loss"] for line in read_metrics(r) if "loss" in line] for r in (whole, parts)]
    assert losses[0] == losses[1]


def test_another_seed_is_another_run(corpus, tmp_path):  # the control of the test above
    losses = []
    for seed in (1, 2):
        train(request(corpus, tmp_path / str(seed), f"train.seed={seed}"))
        losses.append([line.get("loss") for line in read_metrics(tmp_path / str(seed))])
    assert losses[0] != losses[1]


def test_patience_ends_a_run_that_no_longer_gets_better(corpus, tmp_path):
    # A learning rate of next to nothing cannot make progress.
    stuck = ["train.learning_rate=1e-30", "train.patience=2", "train.steps=100"]
    outcome = train(request(corpus, tmp_path / "run", *stuck))
    assert outcome.reason == "patience"
    assert outcome.state.step == 6


def test_epochs_end_a_run(corpus, tmp_path):
    loaded = load_config(overrides=[*SMALL[:-3], "train.epochs=2", "train.validate_every=50"])
    outcome = train(TrainRequest(out=tmp_path / "run", loaded=loaded, train=corpus))
    assert outcome.reason in ("epochs", "steps")
    assert outcome.state.position.epoch == 2
    assert outcome.state.samples == 2 * 190


def test_sampling_masking_and_r_drop_train_too(corpus, tmp_path):
    odd = ["train.source_masking=0.2", "train.r_drop=1.0", "train.smoothing_form=kl"]
    odd += ["train.optimizer=muon", "train.clip_norm=1.0", "train.accumulate=2"]
    assert train(request(corpus, tmp_path / "run", *odd)).state.step == 6


def test_the_last_fifth_of_the_steps_sums_over_the_whole_vocabulary(corpus, tmp_path, monkeypatch):
    shares = []
    real = trainer.update

    def spy(*args, vocabulary_share, **more):
        shares.append(vocabulary_share)
        return real(*args, vocabulary_share=vocabulary_share, **more)

    monkeypatch.setattr(trainer, "update", spy)
    sampled = ["train.vocabulary_share=0.25", "train.steps=10"]
    train(request(corpus, tmp_path / "run", *sampled))
    assert shares == [0.25] * 8 + [1.0] * 2


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_trains(corpus, tmp_path, precision):
    outcome = train(request(corpus, tmp_path / "run", f"train.precision={precision}"))
    assert outcome.state.step == 6
    weights = bundle.read_bundle(outcome.out).weights
    assert all(abs(weight).max() < 1e3 for weight in weights.values())


def test_runs_are_listed_side_by_side(corpus, tmp_path):
    train(request(corpus, tmp_path / "runs" / "a"))
    train(request(corpus, tmp_path / "runs" / "b", "train.steps=2"))
    found = list_runs(tmp_path / "runs")
    assert [run.path.name for run in found] == ["a", "b"]
    assert [run.steps for run in found] == [6, 2]
    assert all(run.state == "done" and run.val_loss is not None for run in found)
    assert found[0].to_dict()["path"] == str(tmp_path / "runs" / "a")
