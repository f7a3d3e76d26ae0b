"""Training as curves: loss, learning rate, validation loss and BLEU against the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.pictures.style import Sheet, Theme, drawing

Metrics = Sequence[Mapping[str, Any]]


def draw_training(metrics: Metrics, path: Path, *, title: str, theme: Theme = "light") -> None:
    """Draw the metrics of one run (``metrics.read_metrics``) into a PNG, SVG or PDF file."""
    validated = [line for line in metrics if "val_loss" in line]
    scored = _scored(validated)
    panels = 3 if scored else 2
    with drawing(path, size=(4.2 * panels, 3.4), theme=theme, texts=[title]) as sheet:
        axes = sheet.figure.subplots(1, panels)
        logged = [line for line in metrics if "loss" in line]
        _line(sheet, axes[0], logged, "loss", label="training, smoothing included")
        _line(sheet, axes[0], validated, "val_loss", number=1, marker="o", label="validation")
        axes[0].set(title="loss of a token", xlabel="step")
        axes[0].legend()
        _line(sheet, axes[1], logged, "lr")
        _name_rates(axes[1])
        if scored:
            _line(sheet, axes[2], scored, "val_bleu", marker="o")
            axes[2].set(title="validation BLEU, greedy", xlabel="step")
        _finish(axes)
        sheet.title(title)


def draw_runs(
    runs: Mapping[str, Metrics], path: Path, *, title: str = "", theme: Theme = "light"
) -> None:
    """Draw the metrics of several runs by their names, one line each in every panel."""
    scored = any(_scored(metrics) for metrics in runs.values())
    panels = ["loss", "val_loss", "lr", *(["val_bleu"] if scored else [])]
    titles = {
        "loss": "training loss of a token",
        "val_loss": "validation loss of a token",
        "val_bleu": "validation BLEU, greedy",
    }
    with drawing(path, size=(11, 7.5), theme=theme, texts=[title, *runs]) as sheet:
        axes = sheet.figure.subplots(2, 2).flatten()
        for axis, key in zip(axes, panels, strict=False):
            for number, (name, metrics) in enumerate(runs.items()):
                lines = [line for line in metrics if line.get(key) is not None]
                marker = "o" if key.startswith("val_") else None
                label = sheet.show(name)
                _line(sheet, axis, lines, key, number=number, marker=marker, label=label)
            axis.set(title=titles.get(key, ""), xlabel="step")
        _name_rates(axes[2])
        axes[3].set_visible(scored)
        _finish(axes)
        handles, labels = axes[0].get_legend_handles_labels()
        sheet.figure.legend(handles, labels, loc="outside lower center", ncols=3)
        sheet.title(title)


def _scored(lines: Metrics) -> list[Mapping[str, Any]]:
    return [line for line in lines if line.get("val_bleu") is not None]


def _name_rates(axis: Any) -> None:
    axis.set(title="learning rate", xlabel="step")
    axis.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))


def _finish(axes: Sequence[Any]) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for axis in axes:
        axis.grid()
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))


def _line(
    sheet: Sheet,
    axis: Any,
    lines: Metrics,
    key: str,
    *,
    number: int = 0,
    marker: str | None = None,
    label: str | None = None,
) -> None:
    steps, values = [line["step"] for line in lines], [line[key] for line in lines]
    # A single point makes no line, and would not be seen without a marker.
    marker = marker or ("o" if len(steps) == 1 else None)
    axis.plot(steps, values, label=label, marker=marker, markersize=4, **sheet.line(number))
