"""The updates since the last log step: what is averaged for a line of metrics."""

from __future__ import annotations

import math
import time

import torch
from torch import Tensor

from dragoman.training.step import Update


class Window:
    """Updates since the last log step; nothing is read back from a device until it is asked for."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.updates: list[Update] = []
        self.n_tokens = 0.0  # over all processes

    def add(self, done: Update, n_tokens: float) -> None:
        self.updates.append(done)
        self.n_tokens += n_tokens

    def sums(self) -> Tensor:
        """Loss, negative log-likelihood and tokens of this process: (3,)."""
        rows = [
            torch.stack((u.loss, u.nll, torch.full_like(u.loss, u.n_tokens))) for u in self.updates
        ]
        return torch.stack(rows).double().sum(0)

    def grad_norm(self) -> float:
        """The newest known norm of the gradient."""
        norms = [u.grad_norm for u in self.updates if u.grad_norm is not None]
        return float(norms[-1]) if norms else math.nan

    def first_not_finite(self) -> int | None:
        """How many updates ago the loss was first not a finite number; None if it always was."""
        if not self.updates:
            return None
        finite = torch.stack([u.loss for u in self.updates]).isfinite()
        bad = (~finite).nonzero().flatten().tolist()
        return len(self.updates) - 1 - bad[0] if bad else None
