"""Attention as a picture: a row for each token that looks, a column for each it looks at.

Every label is measured before it is placed, so that the sheet is as large as its labels need:
none is cut off, and none lies over another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dragoman.pictures.panel_layout import EDGE, GAP, PANEL_SIZE, TITLE_SIZE, Content, Layout
from dragoman.pictures.style import FONT_SIZE, Sheet, Theme, drawing

Matrix = NDArray[Any]
Key = Literal["weights", "mask"]
CELL = 0.28  # inches of one cell, room for a line of text
SMALL_CELL = 0.17  # on a sheet with many matrices
MOST_COLUMNS = 4  # of matrices on one sheet
LONG_LABEL = 24  # characters; what a label has more stands in the text, not on the axis


@dataclass(frozen=True)
class Panel:
    """One matrix with its labels: (L, M), L rows that look, M columns that are looked at."""

    weights: Matrix
    queries: Sequence[str]
    keys: Sequence[str]
    title: str = ""


def draw_attention(
    weights: Matrix,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    path: Path,
    title: str = "",
    rows: str = "",
    columns: str = "",
    theme: Theme = "light",
) -> None:
    """Draw one matrix of attention weights, (L, M), into a PNG, SVG or PDF file.

    ``rows`` and ``columns`` say what the tokens of the two axes are.
    """
    panel = Panel(weights, queries, keys)
    draw_panels([panel], path=path, title=title, rows=rows, columns=columns, theme=theme)


def draw_heads(
    weights: Matrix,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    path: Path,
    title: str = "",
    rows: str = "",
    columns: str = "",
    theme: Theme = "light",
) -> None:
    """Draw all heads of one layer on a sheet: (H, L, M)."""
    panels = [Panel(each, queries, keys, f"head {number}") for number, each in enumerate(weights)]
    draw_panels(panels, path=path, title=title, rows=rows, columns=columns, theme=theme)


def draw_panels(
    panels: Sequence[Panel],
    *,
    path: Path,
    title: str = "",
    rows: str = "",
    columns: str = "",
    key: Key = "weights",
    theme: Theme = "light",
) -> None:
    """Draw matrices beside and below each other, in one scale from 0 to 1.

    ``key`` is what stands beside them: a bar of weights, or what the two colours of masks mean.
    """
    cell = CELL if len(panels) <= 2 else SMALL_CELL
    labels = [_short(text) for panel in panels for text in (*panel.queries, *panel.keys)]
    texts = [*labels, *(panel.title for panel in panels), title, rows, columns]
    with drawing(path, theme=theme, texts=texts, is_laid_out=True) as sheet:
        shown = [_shown(sheet, panel) for panel in panels]
        layout = _lay_out(sheet, shown, cell, title=title, has_names=(bool(rows), bool(columns)))
        sheet.figure.set_size_inches(layout.width, layout.height)
        for panel, box in zip(shown, layout.boxes, strict=True):
            axis = sheet.figure.add_axes(layout.place_of(box))
            image = _draw_matrix(sheet, axis, panel, cell, key)
            _draw_names(sheet, axis, box.content, cell, rows=rows, columns=columns)
        _draw_key(sheet, sheet.figure.add_axes(layout.place_of_key()), image, key)
        place = (0.5, 1 - EDGE / layout.height)
        sheet.figure.text(*place, layout.title, ha="center", va="top", fontsize=TITLE_SIZE)


def _shown(sheet: Sheet, panel: Panel) -> Panel:
    """The panel with its texts as the fonts can draw them."""
    queries, keys = ([sheet.show(_short(t)) for t in side] for side in (panel.queries, panel.keys))
    return Panel(panel.weights, queries, keys, sheet.show(panel.title))


def _lay_out(
    sheet: Sheet, panels: Sequence[Panel], cell: float, *, title: str, has_names: tuple[bool, bool]
) -> Layout:
    contents = [
        Content.of(
            sheet,
            queries=panel.queries,
            keys=panel.keys,
            title=panel.title,
            cell=cell,
            font_size=_font_size(cell),
        )
        for panel in panels
    ]
    n_columns = _columns(len(panels))
    return Layout.of(
        sheet, contents, n_columns=n_columns, title=sheet.show(title), has_names=has_names
    )


def _draw_matrix(sheet: Sheet, axis: Any, panel: Panel, cell: float, key: Key) -> Any:
    n_rows, n_columns = panel.weights.shape
    colors = sheet.colors
    image = axis.imshow(
        panel.weights,
        cmap=sheet.colormap(colors.weights if key == "weights" else colors.mask),
        vmin=0.0,
        vmax=1.0,
        aspect="auto",
        interpolation="nearest",
    )
    away, size = -0.5 - GAP / cell, _font_size(cell)
    for row, text in enumerate(panel.queries):
        axis.text(away, row, text, ha="right", va="center_baseline", fontsize=size)
    for column, text in enumerate(panel.keys):
        axis.text(column, away, text, ha="center", va="bottom", rotation=90, fontsize=size)
    # Thin lines between the cells lead the eye from a label to its row.
    right, bottom = n_columns - 0.5, n_rows - 0.5
    axis.hlines(np.arange(n_rows + 1) - 0.5, -0.5, right, colors=colors.grid, linewidth=0.6)
    axis.vlines(np.arange(n_columns + 1) - 0.5, -0.5, bottom, colors=colors.grid, linewidth=0.6)
    axis.set(xlim=(-0.5, right), ylim=(bottom, -0.5), xticks=[], yticks=[])
    axis.spines[:].set_visible(False)
    return image


def _draw_names(
    sheet: Sheet, axis: Any, content: Content, cell: float, *, rows: str, columns: str
) -> None:
    """Say beyond the labels what the tokens are, and over them which matrix this is."""
    faint = sheet.colors.faint
    x, y = content.width / cell / 2 - 0.5, content.height / cell / 2 - 0.5  # the middle
    left = -0.5 - (content.label_width + 2 * GAP) / cell
    axis.text(left, y, sheet.show(rows), rotation=90, ha="right", va="center", color=faint)
    top = -0.5 - (content.label_height + 2 * GAP) / cell
    name = axis.text(x, top, sheet.show(columns), ha="center", va="bottom", color=faint)
    if columns:
        top -= (sheet.measure(name.get_text(), FONT_SIZE)[1] + GAP) / cell
    axis.text(x, top, content.title, ha="center", va="bottom", fontsize=PANEL_SIZE)


def _draw_key(sheet: Sheet, axis: Any, image: Any, key: Key) -> None:
    """The meaning of the colours."""
    if key == "weights":
        bar = sheet.figure.colorbar(image, cax=axis, ticks=[0.0, 0.5, 1.0])
        bar.outline.set_edgecolor(sheet.colors.grid)
        axis.tick_params(length=0, labelsize=9)
        axis.set_ylabel("weight", color=sheet.colors.faint)
        return
    from matplotlib.patches import Patch

    off, on = sheet.colors.mask
    patches = [
        Patch(facecolor=color, edgecolor=sheet.colors.faint, label=meaning)
        for color, meaning in ((on, "may look"), (off, "may not"))
    ]
    axis.legend(handles=patches, loc="center left", borderpad=0, handlelength=1.0, fontsize=9)
    axis.axis("off")


def _columns(n_panels: int) -> int:
    """How many stand side by side: four is 2 by 2, eight is 4 by 2."""
    return min(MOST_COLUMNS, n_panels if n_panels < 4 else math.ceil(n_panels / 2))


def _font_size(cell: float) -> float:
    """Labels that fit into the height of a cell."""
    return min(FONT_SIZE, cell * 72 * 0.72)


def _short(label: str) -> str:
    """The label, its middle left out where it is very long."""
    if len(label) <= LONG_LABEL:
        return label
    half = LONG_LABEL // 2
    return f"{label[: half - 1]}…{label[-half:]}"
