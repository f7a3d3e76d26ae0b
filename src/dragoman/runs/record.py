"""record.json: how a model came to be, complete enough to do it again."""

from __future__ import annotations

import os
import platform
import resource
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from dragoman import __version__
from dragoman.batches.store import Store
from dragoman.config import Config
from dragoman.config_loading import config_to_dict
from dragoman.training.distributed import World
from dragoman.training.metrics import METRICS
from dragoman.training.state import TrainState

PACKAGES = ("torch", "numpy", "sentencepiece", "sacrebleu", "safetensors")


def make_record(
    config: Config,
    state: TrainState,
    *,
    world: World,
    params: int,
    data: dict[str, Any],
    more: dict[str, Any],
) -> dict[str, Any]:
    """The record of a run as it stands."""
    best = state.best
    return {
        "config": config_to_dict(config),
        "seed": config.train.seed,
        "versions": versions(),
        "hardware": hardware(world),
        "data": data,
        "params": params,
        "steps": state.step,
        "samples": state.samples,
        "tokens": state.tokens,
        "epochs": state.position.epoch,
        "seconds": round(state.seconds, 3),
        "tokens_per_second": round(state.tokens / state.seconds, 1) if state.seconds else 0.0,
        "peak_rss_mb": peak_rss_mb(),
        "best": None
        if best is None
        else {"step": best.step, "val_loss": best.val_loss, "val_bleu": best.val_bleu},
        "schedule": {"total_steps": state.total_steps, "warmup_steps": state.warmup_steps},
        "history_file": METRICS,
        **more,
    }


def data_record(train: Store, valid: Store, *, held_out: int | None) -> dict[str, Any]:
    """Files with their hashes, pairs kept and dropped by reason, of both sets."""
    return {
        "files": [dict(file) for file in train.info.files],
        "sentences": {"kept": len(train), "dropped": dict(train.info.dropped)},
        "validation": {
            "files": [dict(file) for file in valid.info.files],
            "sentences": {"kept": len(valid), "dropped": dict(valid.info.dropped)},
            "held_out_of_training_files": held_out,
        },
    }


def versions() -> dict[str, str]:
    found = {"dragoman": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def hardware(world: World) -> dict[str, Any]:
    found: dict[str, Any] = {
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "processes": world.size,
        "device": str(world.device),
    }
    if world.device.type == "cuda":
        found["gpu"] = torch.cuda.get_device_name(world.device)
    return found


def peak_rss_mb() -> float:
    """The most memory this process has had, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    n_bytes = peak if sys.platform == "darwin" else peak * 1024
    return round(n_bytes / 1e6, 1)
