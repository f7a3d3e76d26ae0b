"""The length penalty (6.1), and the best score that a search can still hope for.

A sum of log-probabilities favours short sentences. As in Wu et al. (2016), which the paper follows,
hypotheses are compared by log P(y) / ((5 + |y|) / 6)^α. |y| counts EOS, whose probability is in
the sum. α = 0 is no penalty; the paper has α = 0.6.
"""

from __future__ import annotations

from typing import TypeVar

from torch import Tensor

Length = TypeVar("Length", int, float, Tensor)


def length_penalty(length: Length, alpha: float) -> Length:
    """What a log-probability is divided by: ((5 + length) / 6)^alpha.

    >>> length_penalty(1.0, 0.6), length_penalty(19.0, 0.5)
    (1.0, 2.0)
    """
    return ((5.0 + length) / 6.0) ** alpha


def best_attainable(log_probs: Tensor, limits: Tensor, alpha: float) -> Tensor:
    """An upper bound of the score of anything that unfinished hypotheses can become.

    A longer hypothesis has a log-probability that is no higher, and is divided by at most the
    penalty of the longest length. For alpha >= 0 no continuation can be worth more than that.
    """
    return log_probs / length_penalty(limits, alpha)
