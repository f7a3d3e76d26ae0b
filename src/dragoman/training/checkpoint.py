"""Checkpoints: written whole or not at all, kept by policy, checked before they are trusted.

    checkpoints/step-00000025/model.safetensors       weights, in their own type
                              optimizer.safetensors   moments and counters, by parameter
                              state.json              TrainState, and the hash of the other two

A checkpoint is one folder that appears by a rename when all of it is on the disk. Without pickle,
so that a checkpoint from a stranger runs no code.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from dragoman import atomic
from dragoman.errors import BundleError
from dragoman.training.state import TrainState

logger = logging.getLogger(__name__)

FOLDER = "checkpoints"
WEIGHTS, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"


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
    found = (run_dir / FOLDER).glob("step-*")
    return sorted(int(path.name[5:]) for path in found if path.name[5:].isdigit())


def save_checkpoint(run_dir: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint; one of the same step that is already there is replaced."""
    from safetensors.torch import save_file

    path = checkpoint_path(run_dir, checkpoint.state.step)
    if path.exists():
        shutil.rmtree(path)
    with atomic.new_folder(path) as inside:
        hashes = {}
        for name, tensors in ((WEIGHTS, checkpoint.weights), (OPTIMIZER, checkpoint.optimizer)):
            save_file({key: t.contiguous() for key, t in tensors.items()}, inside / name)
            hashes[name] = _sha256(inside / name)
        state = {"sha256": hashes, "state": checkpoint.state.to_dict()}
        (inside / STATE).write_text(json.dumps(state, indent=1), encoding="utf-8")
    return path


def load_checkpoint(path: Path) -> Checkpoint:
    """Read and verify one checkpoint; what is missing or damaged is named."""
    from safetensors.torch import load_file

    saved = _read_state(path)
    for name, digest in saved["sha256"].items():
        if not (path / name).is_file():
            raise BundleError(f"{path / name} is missing")
        if _sha256(path / name) != digest:
            raise BundleError(f"{path / name} is damaged: it is not what was written")
    return Checkpoint(
        weights=load_file(path / WEIGHTS),
        optimizer=load_file(path / OPTIMIZER),
        state=TrainState.from_dict(saved["state"]),
    )


def load_weights(path: Path) -> dict[str, Tensor]:
    """The weights of one checkpoint, verified."""
    return load_checkpoint(path).weights


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
            shutil.rmtree(checkpoint_path(run_dir, step), ignore_errors=True)


def clear_unfinished(run_dir: Path) -> None:
    """Remove what a process left behind that was killed while it wrote."""
    for path in (run_dir / FOLDER).glob(".*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _read_state(path: Path) -> Mapping[str, dict[str, str]]:
    try:
        saved = json.loads((path / STATE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BundleError(f"{path / STATE} is missing") from None
    except ValueError:
        raise BundleError(f"{path / STATE} is damaged: not JSON") from None
    if not isinstance(saved, dict) or {"sha256", "state"} - saved.keys():
        raise BundleError(f"{path / STATE} is damaged: not the state of a run")
    return saved


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
