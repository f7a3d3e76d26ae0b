"""The encoder (3.1): N layers of self-attention and feed-forward.

Letters: B sentences, S source length, D d_model, P packed tokens.
"""

from __future__ import annotations

from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.attention import MultiHeadAttention, View
from dragoman.model.feed_forward import FeedForward
from dragoman.model.sublayer import residual


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each inside its residual.

    >>> import torch
    >>> layer = EncoderLayer(ModelConfig(d_model=8, n_heads=2, d_ff=16), name="encoder.0")
    >>> layer(torch.ones(3, 5, 8), View()).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, config: ModelConfig, *, name: str) -> None:
        super().__init__()
        self.order = config.norm
        self.dropout = config.dropout
        self.self_attention = MultiHeadAttention(config, name=f"{name}.self")
        self.self_attention_norm = nn.LayerNorm(config.d_model)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = nn.LayerNorm(config.d_model)

    def forward(self, x: Tensor, view: View) -> Tensor:
        """(B, S, D) -> (B, S, D), or (P, D) -> (P, D)."""
        p = self.dropout if self.training else 0.0
        x = residual(
            x,
            lambda y: self.self_attention(y, None, view),
            norm=self.self_attention_norm,
            order=self.order,
            dropout_p=p,
        )
        return residual(
            x, self.feed_forward, norm=self.feed_forward_norm, order=self.order, dropout_p=p
        )


class Encoder(nn.Module):
    """The stack of encoder layers; in pre-norm a last norm closes it."""

    def __init__(self, config: ModelConfig, n_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(config, name=f"encoder.{i}") for i in range(n_layers)
        )
        self.final_norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else None

    def forward(self, x: Tensor, view: View) -> Tensor:
        for layer in self.layers:
            x = layer(x, view)
        return x if self.final_norm is None else self.final_norm(x)
