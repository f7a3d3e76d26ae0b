import errno
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
import safetensors.torch
import torch

from dragoman import atomic
from dragoman.batches.loader import Position
from dragoman.training import checkpoint as module
from dragoman.training.checkpoint import (
    Checkpoint,
    checkpoint_path,
    clear_unfinished,
    list_steps,
    load_checkpoint,
    load_newest,
    load_weights,
    prune,
    save_checkpoint,
)
from dragoman.training.state import TrainState, Validated


class Kill(BaseException):
    """Stands for the end of the process, at once."""


def make(step, *, value=0.0):
    generator = torch.Generator().manual_seed(step)
    weights = {
        "a.weight": torch.randn(3, 4, generator=generator) + value,
        "b.weight": torch.randn(4, 2, generator=generator).to(torch.bfloat16).t(),
    }
    optimizer = {"a.weight/exp_avg": torch.randn(3, 4, generator=generator).double()}
    optimizer["a.weight/step"] = torch.tensor(float(step))
    state = TrainState(
        step=step,
        samples=70,
        tokens=900,
        seconds=1 / 3,
        total_steps=100,
        warmup_steps=9,
        position=Position(epoch=2, batch=5),
        validations=[Validated(10, 2.5, 30.25), Validated(20, 0.1 + 0.2, None)],
        metrics_bytes=1234,
        scaler={"scale": 65536.0, "growth_factor": 2.0},
    )
    return Checkpoint(weights, optimizer, state)


def same(one, other):
    return one.state == other.state and all(
        mine.keys() == theirs.keys()
        and all(torch.equal(mine[k], theirs[k]) and mine[k].dtype == theirs[k].dtype for k in mine)
        for mine, theirs in ((one.weights, other.weights), (one.optimizer, other.optimizer))
    )


def names(run_dir):
    return sorted(os.listdir(run_dir / "checkpoints"))


def test_what_was_saved_comes_back_bit_for_bit(tmp_path):
    path = save_checkpoint(tmp_path, make(25))
    assert path == checkpoint_path(tmp_path, 25)
    assert same(load_checkpoint(path), make(25))
    assert not same(load_checkpoint(path), make(26))  # control
    assert all(torch.equal(w, make(25).weights[n]) for n, w in load_weights(path).items())


def test_a_run_without_checkpoints_has_none(tmp_path):
    assert load_newest(tmp_path) is None
    assert list_steps(tmp_path) == []
    clear_unfinished(tmp_path)
    prune(tmp_path, keep_last=1, best=[])


def test_steps_are_listed_oldest_first(tmp_path):
    for step in (100_000_000, 30, 9):
        save_checkpoint(tmp_path, make(step))
    (tmp_path / "checkpoints" / "step-of-mine").mkdir()
    assert list_steps(tmp_path) == [9, 30, 100_000_000]
    assert load_newest(tmp_path).state.step == 100_000_000


# --- a write that fails ---------------------------------------------------------------------------


def crash_at(monkeypatch, where, failure):
    """Let the next save fail: at the second file, at the state, or when all is written."""
    real_save, real_sync = safetensors.torch.save_file, atomic.sync_tree
    written = []

    def save_file(tensors, path, *args):
        written.append(path)
        if where == "second file" and len(written) == 2:
            path.write_bytes(b"half")
            raise failure
        real_save(tensors, path, *args)

    def sync_tree(folder):
        if where == "flush":
            raise failure
        real_sync(folder)

    def dumps(*args, **options):
        raise failure

    monkeypatch.setattr(safetensors.torch, "save_file", save_file)
    monkeypatch.setattr(atomic, "sync_tree", sync_tree)
    if where == "state":
        monkeypatch.setattr(module.json, "dumps", dumps)


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), Kill()])
@pytest.mark.parametrize("where", ["second file", "state", "flush"])
@pytest.mark.parametrize("step", [10, 20], ids=["same-step", "next-step"])
def test_a_failed_write_leaves_what_was_there_and_nothing_else(
    tmp_path, monkeypatch, where, failure, step
):
    save_checkpoint(tmp_path, make(10))
    with monkeypatch.context() as patch:
        crash_at(patch, where, failure)
        with pytest.raises(type(failure)):
            save_checkpoint(tmp_path, make(step, value=1.0))
    assert names(tmp_path) == ["step-00000010"]
    assert same(load_newest(tmp_path), make(10))


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
import torch
from dragoman.training.checkpoint import Checkpoint, save_checkpoint
from dragoman.training.state import TrainState

run_dir = Path(sys.argv[1])
save_checkpoint(run_dir, Checkpoint({"w": torch.ones(9)}, {}, TrainState(step=1)))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the system refuses, as it does on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    save_checkpoint(run_dir, Checkpoint({"w": torch.ones(9999)}, {}, TrainState(step=2)))
except OSError as error:
    print(error.errno, error.filename)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file size are POSIX")
def test_a_file_the_system_refuses_is_an_os_error_that_names_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=True
    )
    code, path = done.stdout.split()
    assert int(code) == errno.EFBIG
    assert path.endswith("model.safetensors")
    assert names(tmp_path) == ["step-00000001"]
    assert load_newest(tmp_path).state.step == 1


# --- the same step again --------------------------------------------------------------------------


def test_a_checkpoint_of_the_same_step_is_replaced(tmp_path):
    save_checkpoint(tmp_path, make(10))
    save_checkpoint(tmp_path, make(10, value=1.0))
    assert names(tmp_path) == ["step-00000010"]
    assert same(load_newest(tmp_path), make(10, value=1.0))


def kill_at_rename(monkeypatch, number):
    """Let the process end before its rename of this number, counted from 1."""
    real, done = os.rename, []

    def rename(*args):
        done.append(args)
        if len(done) == number:
            raise Kill
        real(*args)

    monkeypatch.setattr(os, "rename", rename)


@pytest.mark.parametrize(("number", "value"), [(1, 0.0), (2, 1.0), (3, 1.0)])
def test_a_kill_while_the_only_checkpoint_is_replaced_loses_nothing(
    tmp_path, monkeypatch, number, value
):
    # The renames: the new one is whole; the old one is hidden; the new one has its name.
    save_checkpoint(tmp_path, make(10))
    with monkeypatch.context() as patch:
        kill_at_rename(patch, number)
        with pytest.raises(Kill):
            save_checkpoint(tmp_path, make(10, value=1.0))
    assert list_steps(tmp_path) == [10]
    assert same(load_newest(tmp_path), make(10, value=value))
    assert torch.equal(
        load_weights(checkpoint_path(tmp_path, 10))["a.weight"],
        make(10, value=value).weights["a.weight"],
    )
    clear_unfinished(tmp_path)
    assert names(tmp_path) == ["step-00000010"]
    assert same(load_newest(tmp_path), make(10, value=value))


@pytest.mark.parametrize("number", [2, 3])
def test_a_replacement_that_was_killed_can_be_replaced(tmp_path, monkeypatch, number):
    save_checkpoint(tmp_path, make(10))
    with monkeypatch.context() as patch:
        kill_at_rename(patch, number)
        with pytest.raises(Kill):
            save_checkpoint(tmp_path, make(10, value=1.0))
    save_checkpoint(tmp_path, make(10, value=2.0))
    clear_unfinished(tmp_path)
    assert names(tmp_path) == ["step-00000010"]
    assert same(load_newest(tmp_path), make(10, value=2.0))


# --- what is kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keep_last", "best", "kept"),
    [(2, [], [40, 50]), (2, [20], [20, 40, 50]), (1, [50], [50]), (9, [], [10, 20, 30, 40, 50])],
)
def test_the_last_and_the_best_are_kept(tmp_path, keep_last, best, kept):
    for step in (10, 20, 30, 40, 50):
        save_checkpoint(tmp_path, make(step))
    prune(tmp_path, keep_last=keep_last, best=best)
    assert list_steps(tmp_path) == kept
    assert len(names(tmp_path)) == len(kept)
    assert all(same(load_checkpoint(checkpoint_path(tmp_path, s)), make(s)) for s in kept)


def test_a_kill_while_one_is_removed_leaves_none_that_is_half_there(tmp_path, monkeypatch):
    for step in (10, 20):
        save_checkpoint(tmp_path, make(step))

    def rmtree(path, **options):
        if path.exists():
            (path / "state.json").unlink()
            raise Kill

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", rmtree)
        with pytest.raises(Kill):
            prune(tmp_path, keep_last=1, best=[])
    assert list_steps(tmp_path) == [20]
    clear_unfinished(tmp_path)
    assert names(tmp_path) == ["step-00000020"]


def test_what_a_killed_process_left_is_cleared_and_checkpoints_stay(tmp_path):
    save_checkpoint(tmp_path, make(10))
    left = tmp_path / "checkpoints" / ".step-00000020.123-abcd.tmp"
    left.mkdir()
    (left / "model.safetensors").write_bytes(b"half")
    clear_unfinished(tmp_path)
    assert names(tmp_path) == ["step-00000010"]
    assert same(load_newest(tmp_path), make(10))


def test_saving_again_after_a_change_of_the_state_keeps_the_newer(tmp_path):
    first = make(10)
    save_checkpoint(tmp_path, first)
    later = Checkpoint(first.weights, first.optimizer, replace(first.state, metrics_bytes=2000))
    save_checkpoint(tmp_path, later)
    assert load_newest(tmp_path).state.metrics_bytes == 2000
