"""Muon (Jordan et al., 2024): momentum whose matrix is made near-orthogonal before it is applied.

The same rule as ``torch.optim.Muon`` with ``match_rms_adamw``, in another arithmetic: PyTorch's
iterates in bfloat16, which most CPUs only emulate, about a hundred times slower than float32. Here
a CPU iterates in float32, and matrices of one shape go through each product together.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

# The quintic x -> a x + b x³ + c x⁵ pushes every singular value towards 1, steeply from near 0.
A, B, C = 3.4445, -4.7750, 2.0315
N_ITERATIONS = 5


def orthogonalize(matrices: Tensor) -> Tensor:
    """Matrices with the same singular vectors and singular values near 1: (n, rows, columns).

    >>> out = orthogonalize(torch.diag(torch.tensor([5.0, 1.0]))[None])[0]
    >>> bool(((out.diagonal() > 0.6) & (out.diagonal() < 1.3)).all())
    True
    """
    x = matrices if matrices.device.type == "cpu" else matrices.bfloat16()
    is_tall = x.size(1) > x.size(2)
    if is_tall:
        x = x.transpose(1, 2)  # the smaller side makes the smaller Gram matrix
    x = x / torch.linalg.matrix_norm(x, keepdim=True).clamp(min=1e-7)
    for _ in range(N_ITERATIONS):
        gram = torch.bmm(x, x.transpose(1, 2))
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=B, alpha=C), x, beta=A)
    return (x.transpose(1, 2) if is_tall else x).to(matrices.dtype)


class Muon(Optimizer):
    """Nesterov momentum, made orthogonal, scaled so that Adam's learning rates fit."""

    def __init__(
        self, matrices: Iterable[Tensor], *, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        defaults = {"lr": 0.0, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__(matrices, defaults)

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Apply the gradients; there is no closure to evaluate."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for matrix in group["params"]:
                if matrix.grad is not None:
                    by_shape[matrix.shape].append(matrix)
            for matrices in by_shape.values():
                self._step(matrices, group["lr"], group["momentum"], group["weight_decay"])

    def _step(self, matrices: list[Tensor], lr: float, momentum: float, decay: float) -> None:
        directions = []
        for matrix in matrices:
            assert matrix.grad is not None
            state = self.state[matrix]
            if not state:
                state["momentum_buffer"] = torch.zeros_like(matrix)
            buffer = state["momentum_buffer"].lerp_(matrix.grad, 1 - momentum)
            directions.append(matrix.grad.lerp(buffer, momentum))
        updates = orthogonalize(torch.stack(directions))
        scale = lr * 0.2 * math.sqrt(max(matrices[0].shape))
        for matrix, update in zip(matrices, updates, strict=True):
            if decay > 0:
                matrix.mul_(1 - lr * decay)
            matrix.add_(update, alpha=-scale)
