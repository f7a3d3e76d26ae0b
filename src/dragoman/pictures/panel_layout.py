"""Where the matrices of a sheet stand: as large as their cells and labels are, and no larger.

Matplotlib's own layout measures every label some seventy times; here each is measured once.
All lengths are inches; places are counted from the upper left corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.pictures.style import FONT_SIZE, Sheet, wrap

GAP = 0.07  # between a matrix and its labels, and between those and the names of the axes
EDGE = 0.2  # around the sheet
BETWEEN = 0.3  # matrices
KEY_WIDTH, KEY_ROOM = 0.16, 1.15  # the bar of colours alone, and with its numbers
LEAST_WIDTH = 4.5
PANEL_SIZE, TITLE_SIZE = 11.0, 12.0  # of the fonts


@dataclass(frozen=True)
class Content:
    """How large a matrix and what belongs to it are."""

    width: float
    height: float
    label_width: float  # of the widest label of a row
    label_height: float  # of the longest label of a column, which stands upright
    title: str
    title_width: float
    title_height: float

    @classmethod
    def of(
        cls,
        sheet: Sheet,
        *,
        queries: Sequence[str],
        keys: Sequence[str],
        title: str,
        cell: float,
        font_size: float,
    ) -> Content:
        """The sizes of a matrix with these labels and square cells."""
        width = cell * len(keys)
        label_width = max(sheet.measure(text, font_size)[0] for text in queries)
        title = wrap(title, max(width + label_width, 2.0), PANEL_SIZE)
        return cls(
            width=width,
            height=cell * len(queries),
            label_width=label_width,
            label_height=max(sheet.measure(text, font_size)[0] for text in keys),
            title=title,
            title_width=sheet.measure(title, PANEL_SIZE)[0],
            title_height=sheet.measure(title, PANEL_SIZE)[1],
        )


@dataclass(frozen=True)
class Box:
    """A matrix in its place."""

    content: Content
    left: float
    top: float


@dataclass(frozen=True)
class Layout:
    """A sheet of matrices, all places worked out."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    right: float  # of the matrices
    top: float  # of the first labels, below the title
    title: str
    column_name: float  # height of what is said over the labels of the columns

    @classmethod
    def of(
        cls,
        sheet: Sheet,
        contents: Sequence[Content],
        *,
        n_columns: int,
        title: str,
        has_names: tuple[bool, bool],
    ) -> Layout:
        """Matrices in rows of ``n_columns``; ``has_names`` of the rows, and of the columns."""
        line = 1.35 * FONT_SIZE / 72 + GAP
        row_name, column_name = (line if has else 0.0 for has in has_names)
        lefts, right = _across(contents, n_columns, row_name)
        width = max(LEAST_WIDTH, right + KEY_ROOM)
        title = wrap(title, width - 2 * EDGE, TITLE_SIZE)
        title_width, title_height = sheet.measure(title, TITLE_SIZE)
        width = max(width, title_width + 2 * EDGE)
        # What is narrower than its sheet stands in the middle of it.
        aside = (width - right - KEY_ROOM) / 2
        top = EDGE + (title_height + EDGE if title else 0.0)
        tops, bottom = _down(contents, n_columns, top, column_name)
        boxes = [
            Box(content, lefts[i % n_columns] + aside, tops[i // n_columns])
            for i, content in enumerate(contents)
        ]
        return cls(width, bottom, tuple(boxes), right + aside, top, title, column_name)

    def place(self, left: float, top: float, width: float, height: float) -> tuple[float, ...]:
        """A rectangle in shares of the figure, from below, as matplotlib counts."""
        return (
            left / self.width,
            1 - (top + height) / self.height,
            width / self.width,
            height / self.height,
        )

    def place_of(self, box: Box) -> tuple[float, ...]:
        """Where a matrix stands."""
        return self.place(box.left, box.top, box.content.width, box.content.height)

    def place_of_key(self) -> tuple[float, ...]:
        """Where the bar of colours stands: to the right, in the middle."""
        height = min(2.8, 0.6 * (self.height - self.top))
        middle = (self.top + self.height) / 2
        return self.place(self.right + 1.5 * GAP, middle - height / 2, KEY_WIDTH, height)


def _across(
    contents: Sequence[Content], n_columns: int, row_name: float
) -> tuple[list[float], float]:
    """The left edges of the columns of matrices, and the right edge of the last."""
    lefts, x = [], EDGE
    for column in range(n_columns):
        some = contents[column::n_columns]
        # A title that is wider than its matrix reaches out to both sides.
        over = [max(0.0, (each.title_width - each.width) / 2) for each in some]
        before = [row_name + each.label_width + GAP for each in some]
        lefts.append(x + max([*over, *before]))
        after = max(each.width + more for each, more in zip(some, over, strict=True))
        x = lefts[-1] + after + BETWEEN
    return lefts, x - BETWEEN


def _down(
    contents: Sequence[Content], n_columns: int, top: float, column_name: float
) -> tuple[list[float], float]:
    """The upper edges of the rows of matrices, and the lower edge of the sheet."""
    tops, y = [], top
    for start in range(0, len(contents), n_columns):
        some = contents[start : start + n_columns]
        above = [each.label_height + GAP + column_name + GAP + each.title_height for each in some]
        tops.append(y + max(above))
        y = tops[-1] + max(each.height for each in some) + EDGE
    return tops, y
