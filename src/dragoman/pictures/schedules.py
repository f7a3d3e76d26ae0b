"""Learning rates against the step (5.3): the schedules beside each other, and what shapes noam."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from dragoman.config import ScheduleName, TrainConfig
from dragoman.pictures.style import Sheet, Theme, drawing

STEPS = 20_000
N_POINTS = 400


def draw_schedules(
    path: Path,
    *,
    configs: Mapping[str, TrainConfig] | None = None,
    d_model: int = 512,
    steps: int = STEPS,
    theme: Theme = "light",
) -> None:
    """Draw the learning rate of each config by its label; without configs, that of every schedule.

    Beside them stands the paper's schedule for other widths and warm-ups.
    """
    if configs is None:
        names = get_args(ScheduleName)
        configs = {name: TrainConfig(schedule=name, warmup_steps=4000) for name in names}
    curves = {label: (config, d_model) for label, config in configs.items()}
    paper = {
        f"d_model {width}, warm-up {warmup:,}": (TrainConfig(warmup_steps=warmup), width)
        for width, warmup in ((512, 4000), (512, 8000), (256, 4000), (1024, 4000))
    }
    with drawing(path, size=(12, 5.6), theme=theme, texts=list(curves)) as sheet:
        left, right = sheet.figure.subplots(1, 2)
        _draw(sheet, left, curves, steps)
        left.set(title=f"schedules, d_model = {d_model}", ylabel="learning rate")
        _draw(sheet, right, paper, steps)
        right.set_title("noam, the paper's: width and warm-up")
        sheet.title("The learning rate rises, then falls")


def _draw(
    sheet: Sheet, axis: Any, curves: Mapping[str, tuple[TrainConfig, int]], steps: int
) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    from dragoman.training.schedule import learning_rate

    points = sorted({1 + round(i * (steps - 1) / N_POINTS) for i in range(N_POINTS + 1)})
    for number, (label, (config, d_model)) in enumerate(curves.items()):
        rates = [learning_rate(s, config, d_model=d_model, total_steps=steps) for s in points]
        # Where two curves are the same the later, thinner one leaves the earlier to be seen.
        width = 4.0 - 0.5 * number if number < 4 else 1.8
        axis.plot(points, rates, label=sheet.show(label), linewidth=width, **sheet.line(number))
    axis.set_xlabel("step")
    axis.set_ylim(bottom=0)
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:.1e}" if rate else "0"))
    axis.grid()
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
