"""The mean of several checkpoints (6.1): one model that is often better than each of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from dragoman.errors import BundleError
from dragoman.training.checkpoint import FOLDER, checkpoint_path, list_steps, load_weights


def average_weights(run_dir: Path, steps: Sequence[int]) -> dict[str, Tensor]:
    """The mean of the weights of these steps' checkpoints, summed in float64."""
    if not steps:
        raise BundleError("nothing to average: no checkpoint chosen")
    sums: dict[str, Tensor] = {}
    dtypes: dict[str, torch.dtype] = {}
    for step in steps:
        for name, weight in load_weights(checkpoint_path(run_dir, step)).items():
            dtypes[name] = weight.dtype
            sums[name] = weight.double() + sums[name] if name in sums else weight.double()
    return {name: (total / len(steps)).to(dtypes[name]) for name, total in sums.items()}


def choose_last(run_dir: Path, k: int) -> list[int]:
    """The newest k steps that have a checkpoint, fewer where there are fewer."""
    steps = list_steps(run_dir)
    if not steps:
        raise BundleError(f"no checkpoints in {run_dir / FOLDER}")
    return steps[-k:]
