"""Training as curves: loss, learning rate, validation loss and BLEU against the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman import atomic

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"  # told apart by colour-blind readers too


def draw_training(metrics: Sequence[Mapping[str, Any]], path: Path, *, title: str) -> None:
    """Draw the metrics of one run (``metrics.read_metrics``) into a PNG or SVG file."""
    from matplotlib.figure import Figure

    logged = [line for line in metrics if "loss" in line]
    validated = [line for line in metrics if "val_loss" in line]
    scored = [line for line in validated if line.get("val_bleu") is not None]
    n_panels = 3 if scored else 2
    figure = Figure(figsize=(4.2 * n_panels, 3.4), layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots(1, n_panels)
    _line(axes[0], logged, "loss", "training, label smoothing included", BLUE)
    _line(axes[0], validated, "val_loss", "validation", ORANGE, marker="o")
    axes[0].set(title="loss of a token", xlabel="step")
    axes[0].legend(frameon=False)
    _line(axes[1], logged, "lr", "learning rate", BLUE)
    axes[1].set(title="learning rate", xlabel="step")
    axes[1].ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))
    if scored:
        _line(axes[2], scored, "val_bleu", "BLEU", GREEN, marker="o")
        axes[2].set(title="validation BLEU, greedy", xlabel="step")
    for axis in axes:
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    with atomic.replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:] or "png", dpi=120)


def _line(
    axis: Any,
    lines: Sequence[Mapping[str, Any]],
    key: str,
    label: str,
    color: str,
    marker: str | None = None,
) -> None:
    steps, values = [line["step"] for line in lines], [line[key] for line in lines]
    # A single point makes no line, and would not be seen without a marker.
    marker = marker or ("o" if len(steps) == 1 else None)
    axis.plot(steps, values, label=label, color=color, marker=marker, markersize=4)
