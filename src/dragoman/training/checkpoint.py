"""Checkpoints: written whole or not at all, kept by policy, checked before they are trusted.

    checkpoints/step-00000025/model.safetensors       weights, in their own type
                              optimizer.safetensors   moments and counters, by parameter
                              state.json              TrainState, and the hashes of all three

A checkpoint is one folder that appears by a rename when all of it is on the disk, and vanishes by a
rename. One that takes the place of another of the same step is written whole as `step-….new` before
the other is touched; readers prefer it, and whoever finds it left behind moves it into its place.
Without pickle, so that a checkpoint from a stranger runs no code.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from dragoman import atomic
from dragoman.errors import BundleError
from dragoman.training.state import TrainState

logger = logging.getLogger(__name__)

FOLDER = "checkpoints"
WEIGHTS, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
NEW = ".new"


@dataclass(frozen=True)
class Checkpoint:
    """All that a run needs to go on."""

    weights: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    state: TrainState


def checkpoint_path(run_dir: Path, step: int) -> Path:
    """
    >>> checkpoint_path(Path("run"), 25).as_posix()
    'run/checkpoints/step-00000025'
    """
    return run_dir / FOLDER / f"step-{step:08d}"


def list_steps(run_dir: Path) -> list[int]:
    """The steps that have a checkpoint, oldest first."""
    found = (path.name.removesuffix(NEW)[5:] for path in (run_dir / FOLDER).glob("step-*"))
    return sorted({int(number) for number in found if number.isdigit()})


def save_checkpoint(run_dir: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint; one of the same step that is already there is replaced."""
    path = checkpoint_path(run_dir, checkpoint.state.step)
    _finish_replacing(path)
    with atomic.new_folder(_new(path) if path.exists() else path) as inside:
        _save_tensors(inside / WEIGHTS, checkpoint.weights)
        _save_tensors(inside / OPTIMIZER, checkpoint.optimizer)
        state = checkpoint.state.to_dict()
        hashes = {name: _sha256(inside / name) for name in (WEIGHTS, OPTIMIZER)}
        hashes[STATE] = _hash_state(state)
        text = json.dumps({"sha256": hashes, "state": state}, indent=1)
        (inside / STATE).write_text(text, encoding="utf-8")
    _finish_replacing(path)
    return path


def load_checkpoint(path: Path) -> Checkpoint:
    """Read and verify one checkpoint; what is missing or damaged is named."""
    path = _new(path) if _new(path).exists() else path
    hashes, state = _read_state(path)
    return Checkpoint(
        weights=_load_tensors(path / WEIGHTS, hashes),
        optimizer=_load_tensors(path / OPTIMIZER, hashes),
        state=state,
    )


def load_weights(path: Path) -> dict[str, Tensor]:
    """The weights of one checkpoint, verified."""
    path = _new(path) if _new(path).exists() else path
    hashes, _ = _read_state(path)
    return _load_tensors(path / WEIGHTS, hashes)


def load_newest(run_dir: Path) -> Checkpoint | None:
    """The newest checkpoint that is whole; each damaged one is named and passed over."""
    steps = list_steps(run_dir)
    for step in reversed(steps):
        try:
            return load_checkpoint(checkpoint_path(run_dir, step))
        except BundleError as error:
            logger.warning("%s; the checkpoint before it is used", error)
    if steps:
        raise BundleError(
            f"none of the {len(steps)} checkpoints in {run_dir / FOLDER} can be read.\n"
            "  Train again into another folder, or restore the checkpoints from a copy."
        )
    return None


def prune(run_dir: Path, *, keep_last: int, best: Iterable[int]) -> None:
    """Remove all but the newest checkpoints and those of the best steps."""
    steps = list_steps(run_dir)
    keep = {*steps[-keep_last:], *best}
    for step in steps:
        if step not in keep:
            _remove(checkpoint_path(run_dir, step))


def clear_unfinished(run_dir: Path) -> None:
    """Tidy up after a process that was killed while it wrote; for one process, before it reads."""
    for step in list_steps(run_dir):
        _finish_replacing(checkpoint_path(run_dir, step))
    for path in (run_dir / FOLDER).glob(".*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _new(path: Path) -> Path:
    return path.with_name(path.name + NEW)


def _finish_replacing(path: Path) -> None:
    """Give the name of a checkpoint to the one that was written to take its place, if there is."""
    if _new(path).exists():
        if path.exists():
            _remove(path)
        os.rename(_new(path), path)
        atomic.sync(path.parent)


def _remove(path: Path) -> None:
    """Remove a checkpoint so that it is never seen half there."""
    hidden = path.with_name(f".{path.name}.removed")
    shutil.rmtree(hidden, ignore_errors=True)
    os.rename(path, hidden)
    shutil.rmtree(hidden, ignore_errors=True)


def _save_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file({name: t.contiguous() for name, t in tensors.items()}, path)
    except SafetensorError as error:  # a full disk, in words of its own
        number = re.search(r"os error (\d+)", str(error))
        code = int(number[1]) if number else errno.EIO
        raise OSError(code, os.strerror(code), str(path)) from error


def _load_tensors(path: Path, hashes: dict[str, str]) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    if not path.is_file():
        raise BundleError(f"{path} is missing")
    if _sha256(path) != hashes.get(path.name):
        raise BundleError(f"{path} is damaged: it is not what was written")
    return load_file(path)


def _read_state(path: Path) -> tuple[dict[str, str], TrainState]:
    """The hashes of the other files, and the state, verified."""
    try:
        saved = json.loads((path / STATE).read_text(encoding="utf-8"))
        hashes: dict[str, str] = saved["sha256"]
        if _hash_state(saved["state"]) != hashes[STATE]:
            raise BundleError(f"{path / STATE} is damaged: it is not what was written")
        return hashes, TrainState.from_dict(saved["state"])
    except FileNotFoundError:
        raise BundleError(f"{path / STATE} is missing") from None
    except (ValueError, TypeError, KeyError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise BundleError(f"{path / STATE} is damaged or of another version ({reason})") from None


def _hash_state(state: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
