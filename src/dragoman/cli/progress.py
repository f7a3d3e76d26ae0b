"""A training run as somebody at a terminal, or a log file, wants to see it; all of it on stderr."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dragoman.cli.counter import Counter
from dragoman.cli.output import is_terminal, say

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from dragoman.training.reporting import Progress, Validation


def make_reporter() -> LineReporter:
    """A live bar where somebody watches, plain lines elsewhere."""
    return BarReporter() if is_terminal() else LineReporter()


class LineReporter:
    """One plain line for each thing that happens."""

    def __init__(self) -> None:
        self._counter: Counter | None = None

    def message(self, text: str) -> None:
        self._end_count()
        say(text)

    def prepared(self, n_done: int, n_pairs: int) -> None:
        self._counter = self._counter or Counter("pairs prepared", n_pairs)
        self._counter(n_done)

    def _end_count(self) -> None:
        if self._counter is not None:
            self._counter.clear()
            self._counter = None

    def progress(self, progress: Progress) -> None:
        say(progress_line(progress))

    def validated(self, step: int, validation: Validation, *, is_best: bool) -> None:
        for line in validation_lines(step, validation, is_best=is_best):
            say(line)

    def close(self) -> None:
        """There is nothing to clear away."""


class BarReporter(LineReporter):
    """A bar at the bottom of the terminal, with lines for what should stay above it."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def message(self, text: str) -> None:
        if self._bar is None:
            super().message(text)
        else:
            self._bar.console.print(text, markup=False, highlight=False)

    def progress(self, progress: Progress) -> None:
        bar = self._start(progress.total_steps)
        assert self._task is not None
        bar.update(
            self._task,
            completed=progress.step,
            total=progress.total_steps,
            numbers=numbers(progress),
            left=duration(progress.seconds_left),
        )

    def validated(self, step: int, validation: Validation, *, is_best: bool) -> None:
        for line in validation_lines(step, validation, is_best=is_best):
            self.message(line)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _start(self, total: int) -> Bar:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("training"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[numbers]}", markup=False),
                TextColumn("left {task.fields[left]}"),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("", total=total, numbers="", left="?")
            self._bar.start()
        return self._bar


def progress_line(p: Progress) -> str:
    """The numbers of a log step in one line.

    >>> from dragoman.training.reporting import Progress
    >>> progress_line(Progress(step=1200, total_steps=20_000, loss=4.213, nll=4.213,
    ...     learning_rate=2.1e-4, grad_norm=1.42, tokens_per_second=8310, seconds=1,
    ...     seconds_left=2280))
    'step  1,200/20,000   6.0% | loss 4.213 | ppl 67.6 | lr 2.1e-04 | grad 1.42 | 8,310 tok/s | left 38m'
    """  # noqa: E501
    total = f"{p.total_steps:,}"
    step = f"{p.step:,}".rjust(len(total))
    share = 100 * p.step / max(1, p.total_steps)
    return f"step {step}/{total} {share:5.1f}% | {numbers(p)} | left {duration(p.seconds_left)}"


def numbers(p: Progress) -> str:
    """Loss, perplexity, learning rate, gradient and speed."""
    ppl = math.exp(min(p.nll, 50.0))
    return (
        f"loss {p.loss:.3f} | ppl {ppl:,.1f} | lr {p.learning_rate:.1e} | grad {p.grad_norm:.2f}"
        f" | {p.tokens_per_second:,.0f} tok/s"
    )


def validation_lines(step: int, validation: Validation, *, is_best: bool) -> list[str]:
    """What a validation found, and a few sentences as they are translated now."""
    bleu = "" if validation.val_bleu is None else f" | BLEU {validation.val_bleu:.2f}"
    best = " | best so far" if is_best else ""
    lines = [
        f"validation at step {step:,} | loss {validation.val_loss:.4f} | "
        f"ppl {validation.val_ppl:,.2f}{bleu}{best} | {validation.seconds:.0f} s"
    ]
    for sample in validation.samples:
        lines += [f"    source  {sample.source}", f"    now     {sample.translation}"]
        lines += [f"    wanted  {sample.reference}"]
    return lines


def duration(seconds: float) -> str:
    """A time as a person would say it.

    >>> duration(42), duration(125), duration(8000)
    ('42s', '2m', '2h13m')
    """
    if not math.isfinite(seconds):
        return "?"
    if seconds < 60:
        return f"{seconds:.0f}s"
    if seconds < 3600:
        return f"{seconds / 60:.0f}m"
    return f"{seconds // 3600:.0f}h{seconds % 3600 // 60:02.0f}m"
