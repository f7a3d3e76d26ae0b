"""metrics.jsonl and TensorBoard: one line a log step, and no line twice after a resume."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

METRICS, TENSORBOARD = "metrics.jsonl", "tensorboard"


class MetricsLog:
    """Appends to ``metrics.jsonl`` and writes the same numbers for TensorBoard."""

    def __init__(self, run_dir: Path, *, from_byte: int, from_step: int) -> None:
        """Go on after ``from_byte``: what a killed run wrote beyond its checkpoint comes again."""
        path = run_dir / METRICS
        path.touch()
        os.truncate(path, min(from_byte, path.stat().st_size))  # beyond its end it would grow
        self._file = path.open("ab")
        self._board = _open_tensorboard(run_dir / TENSORBOARD, from_step)

    @property
    def n_bytes(self) -> int:
        """Where the file ends now, on the disk too."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def write(self, numbers: Mapping[str, Any]) -> None:
        """Add one line; ``step`` must be among the numbers."""
        self._file.write(json.dumps(numbers, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        if self._board is not None:
            for name, value in numbers.items():
                if name != "step" and isinstance(value, int | float):
                    self._board.add_scalar(name, value, numbers["step"])

    def close(self) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()


def read_metrics(run_dir: Path) -> list[dict[str, Any]]:
    """All lines of a run's metrics; a last line that is half written is left out."""
    lines = (run_dir / METRICS).read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def _open_tensorboard(folder: Path, from_step: int) -> Any:
    """A writer that hides what a killed run wrote past ``from_step``; None where it cannot run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        logger.warning("no TensorBoard files are written: %s", error)
        return None
    return SummaryWriter(str(folder), purge_step=from_step + 1)
