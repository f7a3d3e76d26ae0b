"""The position-wise feed-forward network (3.3): FFN(x) = max(0, x W1 + b1) W2 + b2.

Letters: D d_model, F d_ff; "…" is (B, L), or P packed tokens.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from dragoman.config import ModelConfig
from dragoman.model.dropout import dropout


class FeedForward(nn.Module):
    """Two linear maps with a non-linearity between them, the same at every position.

    ``swiglu`` makes 2F inner values, of which one half gates the other.

    >>> import torch
    >>> FeedForward(ModelConfig(d_model=8, n_heads=2, d_ff=16))(torch.ones(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        n_inner = 2 * config.d_ff if config.activation == "swiglu" else config.d_ff
        self.activation = config.activation
        self.dropout = config.inner_dropout
        self.w1 = nn.Linear(config.d_model, n_inner)
        self.w2 = nn.Linear(config.d_ff, config.d_model)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.activate(self.w1(x))  # (…, F)
        return self.w2(dropout(inner, self.dropout, training=self.training))  # (…, D)

    def activate(self, inner: Tensor) -> Tensor:
        if self.activation == "swiglu":
            gate, up = inner.chunk(2, dim=-1)
            return functional.silu(gate) * up
        return functional.relu(inner) if self.activation == "relu" else functional.gelu(inner)
