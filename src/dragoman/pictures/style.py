"""How every picture looks, light or dark, and how it comes to a file."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dragoman import atomic
from dragoman.errors import ConfigError
from dragoman.pictures.fonts import Fonts, fonts_for

Theme = Literal["light", "dark"]
FORMATS = (".png", ".svg", ".pdf")
DPI = 140
MOST_PIXELS = 40e6  # a larger picture is drawn coarser
FONT_SIZE = 10.0


@dataclass(frozen=True)
class Colors:
    """The colours of one theme; those of ``series`` are told apart by colour-blind readers too."""

    paper: str
    ink: str
    faint: str  # what matters less
    grid: str
    series: tuple[str, ...]
    weights: tuple[str, ...]  # from 0 to 1, of even steps in lightness
    signed: tuple[str, ...]  # from -1 over 0 to 1
    mask: tuple[str, str]  # False, True


THEMES: dict[Theme, Colors] = {
    "light": Colors(
        paper="#ffffff",
        ink="#1d2129",
        faint="#8a8f98",
        grid="#e3e5e8",
        series=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"),
        weights=("#ffffff", "#d3e3f3", "#9cc4e4", "#5a9fd1", "#2171b5", "#08306b"),
        signed=("#b35806", "#f1a340", "#f7f7f7", "#998ec3", "#542788"),
        mask=("#ffffff", "#0072b2"),
    ),
    "dark": Colors(
        paper="#14171c",
        ink="#e8eaed",
        faint="#8a919c",
        grid="#2c313a",
        series=("#56b4e9", "#ff8c42", "#2fc49b", "#e8a0c8", "#f0c23b", "#9ad1f5", "#ffffff"),
        weights=("#14171c", "#173a5e", "#1f6396", "#3f92bf", "#8cc5d9", "#f3f6d5"),
        signed=("#f1a340", "#8f5a16", "#20242b", "#6357a5", "#b3a8e6"),
        mask=("#14171c", "#56b4e9"),
    ),
}
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)))
"""Lines differ in more than colour."""


@dataclass(frozen=True)
class Sheet:
    """A figure that is being drawn, with its colours and its fonts."""

    figure: Any
    colors: Colors
    fonts: Fonts

    def show(self, text: str) -> str:
        """The text as the fonts can draw it."""
        return self.fonts.shown(text)

    def measure(self, text: str, size: float) -> tuple[float, float]:
        """Width and height of a text in inches."""
        from matplotlib.text import Text

        if not text:
            return 0.0, 0.0
        drawn = Text(text=text, fontsize=size, figure=self.figure)
        box = drawn.get_window_extent(self.figure.canvas.get_renderer())
        return box.width / self.figure.dpi, box.height / self.figure.dpi

    def title(self, text: str, size: float = 12.0) -> None:
        """Write the title of the whole picture, its lines no wider than the figure."""
        if text:
            wrapped = wrap(self.show(text), self.figure.get_figwidth(), size)
            self.figure.suptitle(wrapped, fontsize=size, color=self.colors.ink)

    def colormap(self, colors: tuple[str, ...]) -> Any:
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("dragoman", list(colors))

    def line(self, number: int) -> dict[str, Any]:
        """Colour and dashes of the n-th line of a plot."""
        series = self.colors.series
        # Past the last colour the colours come again, with other dashes than before.
        shift = number // len(series)
        return {
            "color": series[number % len(series)],
            "linestyle": DASHES[(number % len(series) + shift) % len(DASHES)],
        }


@contextmanager
def drawing(
    path: Path,
    *,
    theme: Theme,
    size: tuple[float, float] = (6.4, 4.8),
    texts: Iterable[str] = (),
    is_laid_out: bool = False,
) -> Iterator[Sheet]:
    """A sheet of so many inches; it is saved when the block ends, whole or not at all.

    ``texts`` are those of the user, of whatever script. PNG, SVG or PDF, by the file's name. Who
    has worked out all places says ``is_laid_out``; else matplotlib finds them.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "line.png"
    >>> with drawing(path, size=(2, 1), theme="light") as sheet:
    ...     _ = sheet.figure.subplots().plot([0, 1])
    >>> path.stat().st_size > 0
    True
    """
    check_format(path)
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if theme not in THEMES:
        raise ConfigError(f"theme {theme!r}: must be {' or '.join(THEMES)}")
    colors, fonts = THEMES[theme], fonts_for(texts)
    with matplotlib.rc_context(_settings(colors, fonts)):
        figure = Figure(figsize=size, layout=None if is_laid_out else "constrained")
        FigureCanvasAgg(figure)  # can measure texts
        yield Sheet(figure, colors, fonts)
        if not is_laid_out:
            figure.draw_without_rendering()  # titles find their heights, and then their places
        width, height = figure.get_size_inches()
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic.replacing(path) as temporary:
            figure.savefig(
                temporary,
                format=path.suffix[1:].lower(),
                dpi=min(DPI, math.sqrt(MOST_PIXELS / (width * height))),
                # What matplotlib could not fit in makes the picture larger, and is never cut off.
                bbox_inches=None if is_laid_out else "tight",
            )


def check_format(path: Path) -> None:
    """Refuse a file name that no picture can be written to."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"{path}: a picture ends with {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")


def wrap(text: str, inches: float, size: float) -> str:
    """The text in lines that are no wider than so many inches, as far as its words allow.

    Lines are as even as their number allows, so that no last word stands alone.

    >>> wrap("one two three", 0.8, 10)
    'one two\\nthree'
    >>> wrap("the old man is here .", 1.5, 10)
    'the old man\\nis here .'
    """
    most = max(8, int(inches * 72 / (0.56 * size)))
    return "\n".join(line for part in text.split("\n") for line in _even_lines(part, most))


def _even_lines(text: str, most: int) -> list[str]:
    """The fewest lines of at most so many characters, and of these the narrowest."""
    lines = textwrap.wrap(text, most) or [""]
    longest = max(map(len, text.split()), default=most)  # no word is cut for the sake of evenness
    for narrower in range(most - 1, longest - 1, -1):
        evener = textwrap.wrap(text, narrower)
        if len(evener) > len(lines):
            break
        lines = evener
    return lines


def _settings(colors: Colors, fonts: Fonts) -> Any:
    """What matplotlib is to use in place of its defaults."""
    ink = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    return {
        **dict.fromkeys(ink, colors.ink),
        "font.family": list(fonts.families),
        "font.size": FONT_SIZE,
        "text.parse_math": False,  # a token with dollars in it is no formula
        "figure.facecolor": colors.paper,
        "savefig.facecolor": colors.paper,
        "savefig.pad_inches": 0.15,
        "axes.facecolor": colors.paper,
        "axes.titlesize": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": colors.grid,
        "legend.frameon": False,
        "svg.fonttype": "path",  # looks the same where the fonts are not installed
        "pdf.fonttype": 42,
    }
