"""How far the translation of a file has come: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from dragoman.cli.output import is_terminal, say
from dragoman.cli.progress import duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

PLAIN_EVERY = 10.0  # seconds between two plain lines


class Meter:
    """Tells on stderr how many lines are done, where their total is known."""

    def __init__(self, total: int | None, n_done: int = 0) -> None:
        self.total, self.first, self.n_done = total, n_done, n_done
        self.started = self.told = time.monotonic()
        self._bar: Bar | None = self._make_bar() if total and is_terminal() else None

    def within_chunk(self, n_lines: int, of: int) -> None:
        """So many lines of the current chunk are done."""
        del of
        self._tell(self.n_done + n_lines)

    def chunk_done(self, n_lines: int) -> None:
        """A whole chunk is done, and written."""
        self.n_done += n_lines
        self._tell(self.n_done)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _tell(self, n_done: int) -> None:
        if self.total is None:
            return
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=n_done)
            return
        now = time.monotonic()
        if now - self.told >= PLAIN_EVERY:
            self.told = now
            say(progress_line(n_done, self.total, n_done - self.first, now - self.started))

    def _make_bar(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Left

        bar = Progress(
            TextColumn("translating"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("left"),
            Left(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.add_task("", total=self.total, completed=self.n_done)
        bar.start()
        return bar


def progress_line(n_done: int, total: int, n_new: int, seconds: float) -> str:
    """The state of the work in one line.

    >>> progress_line(512, 2048, 256, 64.0)
    'line   512/2,048  25.0% | 4.0 lines/s | left 6m'
    """
    speed = n_new / seconds if seconds > 0 else 0.0
    left = duration((total - n_done) / speed) if speed else "?"
    of = f"{total:,}"
    line = f"{n_done:,}".rjust(len(of))
    return f"line {line}/{of} {100 * n_done / total:5.1f}% | {speed:.1f} lines/s | left {left}"
