"""A run that was killed, however often and whenever, is the run that was not."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

pytestmark = pytest.mark.slow

STEPS = 40
SETTINGS = ["--task", "reverse", "--pairs", 400, "--steps", STEPS, "--seed", 3]
FINE = ["train.checkpoint_every=2", "train.validate_every=10", "train.log_every=1"]
FINE += ["train.average=0", "model.dropout=0.1", "train.batch_tokens=512", "train.keep_last=3"]
FINE += ["train.vocabulary_share=0.5"]  # its draws too must be those of the run that went through


def arguments(out: Path, extra: Sequence[str] = ()) -> list[object]:
    sets = [word for setting in [*FINE, *extra] for word in ("--set", setting)]
    return ["train", *SETTINGS, *sets, "--out", out]


def newest(run: Path) -> Path:
    return max((run / "checkpoints").glob("step-*"))


def assert_same_run(one: Path, other: Path) -> None:
    assert newest(one).name == newest(other).name == f"step-{STEPS:08d}"
    for file in ("model.safetensors", "optimizer.safetensors"):
        a, b = load_file(newest(one) / file), load_file(newest(other) / file)
        assert a.keys() == b.keys()
        assert all(torch.equal(a[name], b[name]) for name in a), file
    bundles = [load_file(run / "model.safetensors") for run in (one, other)]
    assert all(torch.equal(bundles[0][name], bundles[1][name]) for name in bundles[0])


def logged(run: Path) -> list[tuple[int, str, float]]:
    """Step and numbers of every line of metrics.jsonl, without times."""
    found = []
    for line in (run / "metrics.jsonl").read_text().splitlines():
        numbers = json.loads(line)
        kind = "val_loss" if "val_loss" in numbers else "loss"
        found.append((numbers["step"], kind, numbers[kind]))
    return found


class Murderer:
    """Starts a command again and again and kills it, until it was killed often enough."""

    def __init__(self, command: list[str], environment: dict[str, str], run: Path) -> None:
        self.command, self.environment, self.run = command, environment, run
        self.chance = random.Random(7)

    def kill_once(self, while_writing: bool) -> bool:
        """Whether the process was killed; False if it was done before."""
        process = subprocess.Popen(
            self.command,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        seen = self._size()
        patience = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < patience:
            if while_writing and list((self.run / "checkpoints").glob(".step-*")):
                break
            if not while_writing and self._size() != seen:
                time.sleep(self.chance.uniform(0, 0.2))
                break
            time.sleep(0.0005)
        if process.poll() is not None:
            assert process.returncode == 0
            return False
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True

    def _size(self) -> int:
        path = self.run / "metrics.jsonl"
        return path.stat().st_size if path.exists() else 0


def kill_twenty_times(command_of: Callable[[Path], list[str]], environment, tmp_path) -> None:
    """Kill runs until twenty deaths; each that is let to its end must equal the straight one."""
    straight = tmp_path / "straight"
    subprocess.run(command_of(straight), env=environment, check=True, capture_output=True)
    n_killed, n_runs = 0, 0
    while n_killed < 20:  # a run that gets to its end is followed by another
        killed = tmp_path / f"killed-{n_runs}"
        command = [*command_of(killed), "--resume"]
        murderer = Murderer(command, environment, killed)
        while n_killed < 20 and murderer.kill_once(while_writing=n_killed % 2 == 0):
            n_killed += 1
        subprocess.run(command, env=environment, check=True, capture_output=True)
        assert_same_run(straight, killed)
        assert logged(killed) == logged(straight)
        assert not list((killed / "checkpoints").glob(".*"))
        n_runs += 1


def test_runs_killed_twenty_times_end_with_the_same_bits(environment, tmp_path):
    def command(out: Path) -> list[str]:
        return [sys.executable, "-m", "dragoman", *map(str, arguments(out))]

    kill_twenty_times(command, environment, tmp_path)


def test_two_processes_killed_twenty_times_end_with_the_same_bits(
    torchrun: Callable[..., list[str]], environment, tmp_path
):
    kill_twenty_times(lambda out: torchrun(2, *arguments(out)), environment, tmp_path)


def test_ctrl_c_saves_and_tells_how_to_go_on(environment, dragoman, tmp_path):
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    dragoman(*arguments(straight))
    process = subprocess.Popen(
        [sys.executable, "-m", "dragoman", *map(str, arguments(stopped))],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = stopped / "metrics.jsonl"
    while not (metrics.exists() and metrics.stat().st_size) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in told
    assert "everything is saved" in told
    assert "Traceback" not in told
    dragoman(*arguments(stopped), "--resume")
    assert_same_run(straight, stopped)


def test_a_damaged_newest_checkpoint_is_named_and_the_one_before_is_used(dragoman, tmp_path):
    straight, damaged = tmp_path / "straight", tmp_path / "damaged"
    dragoman(*arguments(straight))
    dragoman(*arguments(damaged))
    weights = newest(damaged) / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-5] ^= 1
    weights.write_bytes(content)
    told = dragoman(*arguments(damaged), "--resume").stderr
    assert str(weights) in told
    assert "damaged" in told
    assert_same_run(straight, damaged)
