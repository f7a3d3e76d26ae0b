"""A finished translation as a search gives it back: ids, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dragoman.errors import DragomanError

Ending = Literal["eos", "limit", "repetition"]


@dataclass(frozen=True)
class Hypothesis:
    """One complete translation in ids.

    ``log_prob`` is that of the ids and of EOS after them, by the model alone; ``score`` is what
    hypotheses are compared by: ``log_prob`` divided by the length penalty. ``ending`` says why it
    ends: the model chose EOS, or EOS was put because there was no more room, or because the
    hypothesis went in circles.

    >>> Hypothesis((7, 8), log_prob=-3.0, score=-1.5).n_tokens  # EOS counts
    3
    """

    ids: tuple[int, ...]  # without BOS and EOS
    log_prob: float
    score: float
    ending: Ending = "eos"

    @property
    def n_tokens(self) -> int:
        """|y|: the ids and EOS."""
        return len(self.ids) + 1


def no_usable_probabilities() -> DragomanError:
    """The error of a search that found nothing, because there was nothing to compare."""
    return DragomanError(
        "the model gives no usable probabilities (NaN or infinite): there is no translation.\n"
        "  Its weights are damaged, or its training diverged: take another checkpoint."
    )
