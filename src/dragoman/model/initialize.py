"""The weights before the first step.

Matrices: Xavier uniform, each projection on its own even where several share one tensor.
Embeddings and learned positions: N(0, 1/d_model), the row of padding zero. Biases zero, norms one.
"""

from __future__ import annotations

import torch
from torch import nn

from dragoman.model.attention import MultiHeadAttention
from dragoman.model.embeddings import Embedding
from dragoman.model.feed_forward import FeedForward
from dragoman.model.positional_encoding import LearnedPositions


def initialize(model: nn.Module) -> None:
    """Draw every parameter of ``model`` anew, from PyTorch's generator.

    >>> linear = nn.Linear(3, 2)
    >>> initialize(linear)
    >>> linear.bias.tolist()
    [0.0, 0.0]
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, Embedding | LearnedPositions):
            nn.init.normal_(module.weight, std=module.weight.size(1) ** -0.5)
            if isinstance(module, Embedding):
                module.weight.data[module.pad_id] = 0
    # Xavier looks at a tensor's shape: the parts of a shared tensor are matrices of their own.
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            for part in torch.split(module.qkv.weight.data, module.widths):
                nn.init.xavier_uniform_(part)
        elif isinstance(module, FeedForward) and module.activation == "swiglu":
            for part in module.w1.weight.data.chunk(2):
                nn.init.xavier_uniform_(part)
