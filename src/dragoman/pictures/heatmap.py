"""Attention as a picture: a row for each token that looks, a column for each it looks at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman import atomic

CELL = 0.32  # inches of one cell; labels stay readable at any length
COLORS = "cividis"  # even for colour-blind readers, and in print


def draw_attention(
    weights: NDArray[np.floating[Any]],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    path: Path,
    title: str = "",
) -> None:
    """Draw one matrix of attention weights, (L, M), into a PNG or SVG file."""
    from matplotlib.figure import Figure

    n_rows, n_columns = weights.shape
    size = (CELL * n_columns + 3.0, CELL * n_rows + 2.4)
    figure = Figure(figsize=size, layout="constrained")
    axis = figure.subplots()
    image = axis.imshow(weights, cmap=COLORS, vmin=0.0, vmax=1.0, aspect="equal")
    axis.set_xticks(range(n_columns), keys, rotation=90)
    axis.set_yticks(range(n_rows), queries)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    if title:
        axis.set_title(title, fontsize=10, pad=12)
    figure.colorbar(image, ax=axis, shrink=0.8, label="weight")
    with atomic.replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:] or "png", dpi=140)
