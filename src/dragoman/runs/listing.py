"""The runs below a folder side by side."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.bundle import CONFIG, RECORD, is_bundle
from dragoman.training.checkpoint import FOLDER, list_steps


@dataclass(frozen=True)
class RunSummary:
    """One run in one line; what is not known yet is None."""

    path: Path
    state: str  # "done", or "not finished"
    steps: int
    params: int | None
    minutes: float | None
    tokens_per_second: float | None
    val_loss: float | None
    val_bleu: float | None

    def to_dict(self) -> dict[str, Any]:
        """The summary with its path as text."""
        return {**self.__dict__, "path": str(self.path)}


def list_runs(folder: Path) -> list[RunSummary]:
    """Every run at or below ``folder``, in the order of their names."""
    found = sorted({path.parent for path in folder.rglob(CONFIG)})
    return [_summary(path) for path in found if is_bundle(path)]


def _summary(path: Path) -> RunSummary:
    record = _read(path / RECORD)
    steps = list_steps(path) if (path / FOLDER).is_dir() else []
    newest = max([record.get("steps", 0), *steps])
    chosen = record.get("chosen") or {}
    best = record.get("best") or {}
    is_done = bool(record.get("is_done"))
    return RunSummary(
        path=path,
        state="done" if is_done else "not finished",
        steps=newest,
        params=record.get("params"),
        minutes=round(record["seconds"] / 60, 1) if "seconds" in record else None,
        tokens_per_second=record.get("tokens_per_second"),
        val_loss=chosen.get("val_loss", best.get("val_loss")),
        val_bleu=chosen.get("val_bleu", best.get("val_bleu")),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
