"""Every kind of damage to a checkpoint is noticed, named, and costs one checkpoint at most."""

import contextlib
import json
import logging
import os

import pytest
import torch

from dragoman.errors import BundleError
from dragoman.training import checkpoint as module
from dragoman.training.checkpoint import (
    Checkpoint,
    checkpoint_path,
    load_checkpoint,
    load_newest,
    save_checkpoint,
)
from dragoman.training.state import TrainState, Validated


def make(step):
    weights = {"a.weight": torch.arange(12.0).view(3, 4) + step}
    optimizer = {"a.weight/exp_avg": torch.arange(12.0).view(3, 4) - step}
    found = [Validated(10, 2.5, 30.25), Validated(20, 0.1 + 0.2, None)]
    return Checkpoint(weights, optimizer, TrainState(step=step, tokens=900, validations=found))


def same(one, other):
    return one.state == other.state and all(
        torch.equal(mine[name], theirs[name])
        for mine, theirs in ((one.weights, other.weights), (one.optimizer, other.optimizer))
        for name in mine
    )


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def edit_state(path, change):
    saved = json.loads(path.read_text(encoding="utf-8"))
    change(saved)
    path.write_text(json.dumps(saved), encoding="utf-8")


def change_a_digit(path):
    text = path.read_text(encoding="utf-8")
    assert '"tokens": 900' in text
    path.write_text(text.replace('"tokens": 900', '"tokens": 901'), encoding="utf-8")


DAMAGES = {
    "a flipped bit in the weights": ("model.safetensors", lambda path: flip(path, -1)),
    "a flipped bit in the header": ("model.safetensors", lambda path: flip(path, 3)),
    "a flipped bit in the moments": ("optimizer.safetensors", lambda path: flip(path, -1)),
    "weights cut short": ("model.safetensors", lambda path: os.truncate(path, 50)),
    "empty moments": ("optimizer.safetensors", lambda path: os.truncate(path, 0)),
    "no weights": ("model.safetensors", lambda path: path.unlink()),
    "no moments": ("optimizer.safetensors", lambda path: path.unlink()),
    "no state": ("state.json", lambda path: path.unlink()),
    "a state cut short": ("state.json", lambda path: os.truncate(path, 90)),
    "a state that is no text": ("state.json", lambda path: path.write_bytes(b"\xff\xfe{")),
    "a state that is a list": ("state.json", lambda path: path.write_text("[1]")),
    "a state of another kind": ("state.json", lambda path: path.write_text("{}")),
    "a changed digit": ("state.json", change_a_digit),
    "no hash of the weights": (
        "state.json",
        lambda path: edit_state(path, lambda saved: saved["sha256"].pop("model.safetensors")),
    ),
    "hashes that are none": (
        "state.json",
        lambda path: edit_state(path, lambda saved: saved.update(sha256=3)),
    ),
}


@pytest.mark.parametrize(("file", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_newest_checkpoint_is_named_and_the_one_before_is_used(
    tmp_path, caplog, file, damage
):
    for step in (10, 20):
        save_checkpoint(tmp_path, make(step))
    damage(checkpoint_path(tmp_path, 20) / file)
    with caplog.at_level(logging.WARNING):
        assert same(load_newest(tmp_path), make(10))
    assert str(checkpoint_path(tmp_path, 20)) in caplog.text
    with pytest.raises(BundleError, match="step-00000020"):
        load_checkpoint(checkpoint_path(tmp_path, 20))


@pytest.mark.parametrize("at", range(0, 700, 61))
def test_a_flipped_bit_in_the_state_changes_no_number_unnoticed(tmp_path, at):
    path = save_checkpoint(tmp_path, make(20)) / "state.json"
    flip(path, at)
    with contextlib.suppress(BundleError):
        assert same(load_checkpoint(path.parent), make(20))  # it hit white space


def test_a_state_of_another_version_is_refused_by_name(tmp_path):
    path = save_checkpoint(tmp_path, make(20)) / "state.json"
    saved = json.loads(path.read_text(encoding="utf-8"))
    saved["state"]["mood"] = "good"
    saved["sha256"]["state.json"] = module._hash_state(saved["state"])
    path.write_text(json.dumps(saved), encoding="utf-8")
    with pytest.raises(BundleError, match="state.json"):
        load_checkpoint(path.parent)


def test_when_none_can_be_read_the_error_says_what_to_do(tmp_path):
    for step in (10, 20):
        flip(save_checkpoint(tmp_path, make(step)) / "model.safetensors", -1)
    with pytest.raises(BundleError, match="none of the 2 checkpoints.*\n.*restore"):
        load_newest(tmp_path)
