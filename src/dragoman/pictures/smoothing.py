"""Label smoothing (5.4): what the model is asked for, and what being too sure costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dragoman.pictures.style import Sheet, Theme, drawing
from dragoman.tokenize.vocabulary import SPECIAL_PIECES

WORDS = ("a", "cat", "dog", "runs")
GOLD = len(SPECIAL_PIECES) + WORDS.index("dog")


def draw_smoothing(path: Path, *, epsilon: float = 0.1, theme: Theme = "light") -> None:
    """Draw the target distribution of a token in each form, and the loss against confidence."""
    import torch

    from dragoman.training.label_smoothing import Smoothing

    pieces = [*SPECIAL_PIECES, *WORDS]
    n = len(pieces)
    gold = torch.tensor([GOLD])
    forms = {
        "no smoothing": Smoothing.of("uniform", 0.0, vocab_size=n),
        f"uniform (the paper), ε = {epsilon:g}: ε/V to every token": Smoothing.of(
            "uniform", epsilon, vocab_size=n
        ),
        f"kl, ε = {epsilon:g}: ε/(V−2), none to gold and <pad>": Smoothing.of(
            "kl", epsilon, vocab_size=n
        ),
    }
    with drawing(path, size=(11.5, 7), theme=theme) as sheet:
        left, right = sheet.figure.subfigures(1, 2, width_ratios=(3, 2))
        axes = left.subplots(len(forms), 1, sharex=True)
        for number, (axis, (title, form)) in enumerate(zip(axes, forms.items(), strict=True)):
            _draw_target(sheet, axis, form.target(gold, n)[0].tolist(), number)
            axis.set_title(title)
        axes[-1].set_xticks(range(n), pieces)
        axes[-1].set_xlabel(f"vocabulary of {n}; the gold token is “{pieces[GOLD]}”")
        _draw_loss(sheet, right.subplots(), epsilon)
        sheet.title("Label smoothing: targets that leave a little room for the other tokens")


def _draw_target(sheet: Sheet, axis: Any, target: list[float], number: int) -> None:
    bars = axis.bar(range(len(target)), target, color=sheet.colors.series[number], width=0.7)
    axis.bar_label(bars, [f"{share:.3g}" for share in target], padding=2, fontsize=9)
    axis.set_ylim(0, 1.2)
    axis.set_yticks([0, 0.5, 1])
    axis.set_ylabel("target q")
    axis.tick_params(axis="x", length=0)


def _draw_loss(sheet: Sheet, axis: Any, epsilon: float, vocab_size: int = 1000) -> None:
    """The loss when gold has probability p and the other tokens share the rest evenly."""
    import torch

    from dragoman.training.label_smoothing import Smoothing, smoothed_loss

    confidences = torch.cat([torch.linspace(0.05, 0.99, 200), 1 - torch.logspace(-2, -6, 100)])
    for number, eps in enumerate((0.0, epsilon)):
        form = Smoothing.of("uniform", eps, vocab_size=vocab_size)
        losses = []
        for p in confidences.double().tolist():
            probabilities = torch.full((1, vocab_size), (1 - p) / (vocab_size - 1)).double()
            probabilities[0, 1] = p
            losses.append(float(smoothed_loss(probabilities.log(), torch.tensor([1]), form)))
        label = "no smoothing" if eps == 0 else f"ε = {eps:g}"
        axis.plot(confidences, losses, label=label, linewidth=2, **sheet.line(number))
    axis.set(
        title=f"the loss turns up again\nwhere the model is too sure (V = {vocab_size:,})",
        xlabel="probability of the gold token",
        ylabel="loss",
        ylim=(0, None),
    )
    axis.grid()
    axis.legend()
