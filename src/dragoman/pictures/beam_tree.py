"""The beam as a tree: a column for each step, the best above; what was dropped stays to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dragoman.decoding.beam_trace import BeamNode
from dragoman.decoding.explanation import Explanation
from dragoman.pictures.panel_layout import EDGE, TITLE_SIZE
from dragoman.pictures.style import FONT_SIZE, Colors, Sheet, Theme, drawing, wrap

ROW = 0.46  # inches from one node to the one below
GAP = 0.45  # inches between columns, for the branches
LEGEND = 0.45  # inches below the tree
LEAST_WIDTH = 6.0
Place = tuple[float, float]


def draw_beam(explanation: Explanation, path: Path, *, theme: Theme = "light") -> None:
    """Draw the tree of the search: each step's proposals with their scores, best above."""
    nodes, text = explanation.beam.nodes, _title(explanation)
    with drawing(path, theme=theme, texts=[text, *map(_label, nodes)], is_laid_out=True) as sheet:
        columns = _columns(nodes)
        widths = [_width(sheet, column) for column in columns]
        lefts = [sum(widths[:i]) + GAP * i for i in range(len(columns))]
        places = {
            node.id: (lefts[step], -ROW * rank)
            for step, column in enumerate(columns)
            for rank, node in enumerate(column)
        }
        tree = (lefts[-1] + widths[-1], ROW * max(map(len, columns)))
        axis = _open_axis(sheet, tree, sheet.show(text))
        for node in sorted(nodes, key=lambda node: node.best):  # the best path over the others
            if node.parent >= 0:
                start = places[node.parent]
                _branch(sheet, axis, node, start=start, end=places[node.id], widths=widths)
        for node in nodes:
            _draw_node(sheet, axis, node, places[node.id], widths[node.step])
        for step, left in enumerate(lefts[1:], start=1):
            axis.text(left, 0.6 * ROW, f"step {step}", color=sheet.colors.faint, fontsize=8)


def _open_axis(sheet: Sheet, tree: tuple[float, float], text: str) -> Any:
    """Axes in inches, as large as the tree, under the title and over the legend."""
    width, height = max(tree[0], LEAST_WIDTH), tree[1]
    title = wrap(text, width, TITLE_SIZE)
    title_width, title_height = sheet.measure(title, TITLE_SIZE)
    whole = (max(width, title_width) + 2 * EDGE, title_height + height + 3 * EDGE + LEGEND)
    sheet.figure.set_size_inches(*whole)
    sheet.figure.text(0.5, 1 - EDGE / whole[1], title, ha="center", va="top", fontsize=TITLE_SIZE)
    axis = sheet.figure.add_axes((0, LEGEND / whole[1], 1, (height + EDGE) / whole[1]))
    aside = (whole[0] - tree[0]) / 2
    axis.set(xlim=(-aside, whole[0] - aside), ylim=(-height + ROW / 2, ROW / 2 + EDGE))
    axis.axis("off")
    _legend(sheet)
    return axis


def _width(sheet: Sheet, column: Sequence[BeamNode]) -> float:
    labels = {sheet.show(_label(node)) for node in column}
    return max(0.45, *(sheet.measure(label, FONT_SIZE)[0] for label in labels)) + 0.16


def _columns(nodes: Sequence[BeamNode]) -> list[list[BeamNode]]:
    """The nodes of each step, likeliest first."""
    columns: list[list[BeamNode]] = [[] for _ in range(max(node.step for node in nodes) + 1)]
    for node in nodes:
        columns[node.step].append(node)
    return [sorted(column, key=lambda node: -node.log_prob) for column in columns]


def _label(node: BeamNode) -> str:
    return node.piece.replace("▁", " ").strip() or "␣"


def _title(explanation: Explanation) -> str:
    beam = explanation.beam
    how = "greedy search" if beam.size == 1 else f"beam of {beam.size}"
    return (
        f"{explanation.source.text}\n{explanation.target.text}\n"
        f"{how}, length penalty {beam.length_penalty:g}, score {explanation.score:.3f}"
    )


def _color(node: BeamNode, colors: Colors) -> str:
    if node.best:
        return colors.series[1]
    if node.state == "finished":
        return colors.series[2]
    return colors.series[0] if node.state == "kept" else colors.faint


def _branch(
    sheet: Sheet, axis: Any, node: BeamNode, *, start: Place, end: Place, widths: Sequence[float]
) -> None:
    """A curve from the right of the parent to the left of the node."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    x0, x1 = start[0] + widths[node.step - 1], end[0]
    middle = (x0 + x1) / 2
    curve = Curve(
        [(x0, start[1]), (middle, start[1]), (middle, end[1]), (x1, end[1])],
        [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4],
    )
    is_pruned = node.state == "pruned" and not node.best
    axis.add_patch(
        PathPatch(
            curve,
            fill=False,
            edgecolor=_color(node, sheet.colors),
            linewidth=2.4 if node.best else 1.0,
            linestyle=":" if is_pruned else "-",
            alpha=0.6 if is_pruned else 1.0,
        )
    )


def _draw_node(sheet: Sheet, axis: Any, node: BeamNode, place: Place, width: float) -> None:
    """The piece over its score, framed where the search went on from it or ended with it."""
    from matplotlib.patches import FancyBboxPatch

    color, (x, y), height = _color(node, sheet.colors), place, 0.8 * ROW
    is_pruned = node.state == "pruned"
    axis.add_patch(
        FancyBboxPatch(
            (x + 0.04, y - height / 2 + 0.04),
            width - 0.08,
            height - 0.08,
            boxstyle="round,pad=0.04,rounding_size=0.06",
            facecolor=sheet.colors.paper,
            edgecolor="none" if is_pruned else color,
            linewidth=2.4 if node.best or node.state == "finished" else 1.0,
        )
    )
    ink = sheet.colors.faint if is_pruned else sheet.colors.ink
    middle = x + width / 2
    common = {"ha": "center", "color": ink}
    axis.text(middle, y + 0.005, sheet.show(_label(node)), va="bottom", **common)
    axis.text(middle, y - 0.01, f"{node.score:.2f}", va="top", fontsize=7, **common)


def _legend(sheet: Sheet) -> None:
    from matplotlib.lines import Line2D

    colors = sheet.colors
    handles = [
        Line2D([], [], color=colors.series[1], linewidth=2.4, label="the translation"),
        Line2D([], [], color=colors.series[0], label="kept"),
        Line2D([], [], color=colors.series[2], linewidth=2.4, label="finished"),
        Line2D([], [], color=colors.faint, linestyle=":", label="pruned"),
    ]
    sheet.figure.legend(handles=handles, loc="lower center", ncols=4)
