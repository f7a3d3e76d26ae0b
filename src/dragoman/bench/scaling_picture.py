"""The curves of ``bench scaling`` as one picture: time above, memory below, an axis a column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dragoman.bench.scaling import Curve, fits_of
from dragoman.pictures.style import Sheet, Theme, drawing

LABELS = {
    "length": "pieces of a sentence",
    "batch": "sentences of a batch",
    "vocabulary": "pieces of the vocabulary",
    "d_model": "width of the model, d_model",
    "layers": "layers",
}
ROWS = (("seconds", "seconds"), ("memory_mb", "memory, MB"))


def draw_scaling(curves: Sequence[Curve], path: Path, *, theme: Theme = "light") -> None:
    """Write the picture; both axes are logarithmic, so that a power is a straight line.

    Points are measured, dashes fitted to the upper half of them; the legend gives the exponent.
    """
    axes = list(dict.fromkeys(curve.axis for curve in curves))
    with drawing(path, size=(3.1 * len(axes), 6.0), theme=theme) as sheet:
        grid = sheet.figure.subplots(2, len(axes), squeeze=False)
        for column, axis in enumerate(axes):
            of_axis = [curve for curve in curves if curve.axis == axis]
            for row, (quantity, label) in enumerate(ROWS):
                plot = grid[row][column]
                for number, curve in enumerate(of_axis):
                    _draw_curve(sheet, plot, curve=curve, quantity=quantity, number=number)
                _scale(plot, of_axis[0].values)
                plot.set_ylabel(label if column == 0 else "")
                plot.set_xlabel(LABELS[axis] if row == len(ROWS) - 1 else "")
                # Above the plot it hides no point.
                plot.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)
        sheet.title("How time and memory grow")


def _draw_curve(sheet: Sheet, plot: Any, *, curve: Curve, quantity: str, number: int) -> None:
    """One curve with its fit; points that could not be measured are left out."""
    measured = getattr(curve, quantity)
    points = [(x, y) for x, y in zip(curve.values, measured, strict=True) if y > 0]
    if not points:
        return
    xs, ys = zip(*points, strict=True)
    color = sheet.line(number)["color"]
    fit = fits_of(xs, ys).get("upper half")
    power = "" if fit is None else f"  ∝ x^{fit.exponent:.2f}"
    plot.plot(xs, ys, "o", color=color, markersize=4, label=f"{curve.kind}{power}")
    if fit is not None:
        ends = (fit.low, fit.high)
        plot.plot(ends, [fit.at(x) for x in ends], color=color, linestyle=(0, (4, 2)), linewidth=1)


def _scale(plot: Any, values: Sequence[int]) -> None:
    """Logarithmic axes with plain numbers on them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    plot.set_xscale("log", base=2)
    plot.set_yscale("log")
    low, high = plot.get_ylim()
    if high < 4 * low:  # what hardly grows is not to look as if it did
        plot.set_ylim(low / 2, high * 2)
    short = [f"{v // 1000}k" if v >= 1000 and v % 1000 == 0 else str(v) for v in values]
    plot.set_xticks(values, short, size=8)
    plot.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    plot.yaxis.set_major_formatter(FuncFormatter(lambda y, place: f"{y:,.6g}"))
    for axis in (plot.xaxis, plot.yaxis):
        axis.set_minor_formatter(NullFormatter())
    plot.minorticks_off()
    plot.tick_params(axis="y", labelsize=8)
    plot.grid(visible=True)
