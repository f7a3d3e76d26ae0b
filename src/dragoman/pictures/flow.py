"""The way of a sentence through the model: a line for each station, with shape and size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dragoman.decoding.explanation import Explanation
from dragoman.decoding.flow import FlowStep
from dragoman.pictures.style import Sheet, Theme, drawing

ROW = 0.3  # inches of one station
KINDS = {"self": 0, "cross": 1, "feed_forward": 2}  # which colour; the others have that of text


def draw_flow(explanation: Explanation, path: Path, *, theme: Theme = "light") -> None:
    """Draw every station with its shape, and the mean length of a token's vector as a bar."""
    flow = explanation.flow
    facts = explanation.model
    title = (
        f"{explanation.source.text}\n{explanation.target.text}\n"
        f"S = {flow[0].shape[0]} source pieces, T = {flow[-1].shape[0]} target pieces,"
        f" D = {facts['d_model']:,}, V = {facts['vocab_size']:,}"
    )
    size = (10.5, ROW * len(flow) + 2.0)
    with drawing(path, size=size, theme=theme, texts=[title]) as sheet:
        axis = sheet.figure.subplots()
        rows = range(len(flow))
        norms = [step.norm for step in flow]
        bars = axis.barh(rows, norms, color=[_color(sheet, step) for step in flow], height=0.72)
        axis.bar_label(bars, [_shape(step) for step in flow], padding=4, fontsize=9)
        axis.set_yticks(rows, [step.title for step in flow])
        axis.set_ylim(len(flow) - 0.4, -0.6)  # the first above
        axis.set_xlim(0, 1.32 * max(norms))
        axis.set_xlabel("mean length of a token's vector after this part")
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="x")
        axis.set_axisbelow(True)
        sheet.title(title)


def _color(sheet: Sheet, step: FlowStep) -> str:
    kind = step.name.rpartition(".")[2]
    return sheet.colors.series[KINDS[kind]] if kind in KINDS else sheet.colors.faint


def _shape(step: FlowStep) -> Any:
    sizes = " × ".join(f"{size:,}" for size in step.shape)
    return f"{step.letters} = {sizes}"
