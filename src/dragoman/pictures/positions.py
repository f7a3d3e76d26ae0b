"""Where a token stands, as the model is told: the waves of 3.5, all of them and some by themselves.

Letters: L positions, D d_model.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from dragoman.pictures.style import Sheet, Theme, drawing


def draw_positions(
    path: Path, *, length: int = 100, d_model: int = 128, theme: Theme = "light"
) -> None:
    """Draw the sinusoidal encoding: every dimension as a row of colours, and single waves."""
    from dragoman.model.positional_encoding import sinusoidal_encoding

    table = sinusoidal_encoding(length, d_model).numpy()  # (L, D)
    with drawing(path, size=(10.5, 8.5), theme=theme) as sheet:
        whole, waves = sheet.figure.subplots(2, 1, height_ratios=(3, 2), sharex=True)
        _draw_all(sheet, whole, table)
        _draw_waves(sheet, waves, table)
        waves.set_xlabel("position in the sentence")
        waves.set_xlim(-0.5, length - 0.5)
        sheet.title(f"Positional encoding of {length} positions, d_model = {d_model}")


def _draw_all(sheet: Sheet, axis: Any, table: Any) -> None:
    image = axis.imshow(
        table.T,
        cmap=sheet.colormap(sheet.colors.signed),
        vmin=-1,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
    )
    axis.set_ylabel("dimension")
    axis.set_title("all dimensions: fast waves above, slow ones below")
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    bar = sheet.figure.colorbar(image, ax=axis, ticks=[-1, 0, 1], aspect=30, pad=0.01)
    bar.outline.set_visible(False)


def _draw_waves(sheet: Sheet, axis: Any, table: Any) -> None:
    """A few dimensions, chosen so that their waves are of plainly different lengths."""
    d_model = table.shape[1]
    pairs = sorted({_pair(wavelength, d_model) for wavelength in (12, 30, 90, 300)})
    for number, pair in enumerate(pairs):
        wavelength = 2 * math.pi * 10_000 ** (2 * pair / d_model)
        label = f"dimension {2 * pair}: sine, a wave every {wavelength:,.0f} positions"
        axis.plot(table[:, 2 * pair], label=label, linewidth=1.8, **sheet.line(number))
    cosine = 2 * pairs[0] + 1
    axis.plot(
        table[:, cosine],
        label=f"dimension {cosine}: the cosine beside the first",
        linewidth=1.2,
        color=sheet.colors.faint,
        linestyle=":",
    )
    axis.set_title("single waves")
    axis.set_ylabel("value")
    axis.set_yticks([-1, 0, 1])
    axis.grid(axis="y")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


def _pair(wavelength: float, d_model: int) -> int:
    """The pair of dimensions whose waves are nearest to so many positions long."""
    exponent = math.log(wavelength / (2 * math.pi)) / math.log(10_000)
    return min(d_model // 2 - 1, max(0, round(exponent * d_model / 2)))
