"""A small batch with padding, all sizes different, and models of every option to run it through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from dragoman.config import ModelConfig
from dragoman.reference.initialize import parameter_shapes

# B=2 H=3 K=4 S=5 T=7 F=11 D=12 V=13
SMALL = {"d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 11, "vocab_size": 13, "dropout": 0.0}

# Every option at least once, and those that meet in one formula together.
OPTIONS: dict[str, dict[str, Any]] = {
    "paper": {},
    "pre-norm": {"norm": "pre"},
    "gelu": {"activation": "gelu"},
    "swiglu": {"activation": "swiglu", "norm": "pre"},
    "learned positions": {"positions": "learned", "max_positions": 9},
    "rotary positions": {"positions": "rotary"},
    "tied in the decoder": {"tie": "decoder", "src_vocab_size": 17},
    "untied": {"tie": "none", "src_vocab_size": 17},
    "d_k and d_v free": {"d_k": 6, "d_v": 5},
    "windowed": {"window": 1},
    "uneven stacks": {"n_encoder_layers": 1, "n_decoder_layers": 3},
    "everything": {
        "norm": "pre",
        "activation": "swiglu",
        "positions": "rotary",
        "tie": "none",
        "src_vocab_size": 17,
        "d_k": 2,
        "d_v": 5,
        "window": 2,
        "n_decoder_layers": 1,
    },
}


@pytest.fixture(params=OPTIONS, ids=lambda name: name.replace(" ", "-"))
def config(request: pytest.FixtureRequest) -> ModelConfig:
    return ModelConfig(**(SMALL | OPTIONS[request.param]))


@pytest.fixture
def make_config() -> Callable[..., ModelConfig]:
    return lambda **options: ModelConfig(**(SMALL | options))


@pytest.fixture
def make_params() -> Callable[..., dict[str, np.ndarray]]:
    """Parameters without a zero or a one among them, so that a forgotten bias or norm shows."""

    def make(config: ModelConfig, seed: int = 1) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(seed)
        params = {n: rng.normal(0, 0.4, shape) for n, shape in parameter_shapes(config).items()}
        return {n: 1 + p if n.endswith("norm.weight") else p for n, p in params.items()}

    return make


@pytest.fixture
def batch() -> dict[str, np.ndarray]:
    """Two sentence pairs, the second shorter on both sides."""
    return {
        "src_ids": np.array([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0]]),
        "tgt_in": np.array([[1, 9, 4, 10, 4, 11, 12], [1, 5, 7, 3, 0, 0, 0]]),
        "tgt_out": np.array([[9, 4, 10, 4, 11, 12, 2], [5, 7, 3, 2, 0, 0, 0]]),
    }


# Their names for ours, inside one layer.
ENCODER_NAMES = {
    "self_attn.in_proj_": "self_attention.qkv.",
    "self_attn.out_proj.": "self_attention.out.",
    "norm1.": "self_attention_norm.",
    "linear1.": "feed_forward.w1.",
    "linear2.": "feed_forward.w2.",
    "norm2.": "feed_forward_norm.",
}
DECODER_NAMES = ENCODER_NAMES | {
    "multihead_attn.in_proj_": "cross_attention.qkv.",
    "multihead_attn.out_proj.": "cross_attention.out.",
    "norm2.": "cross_attention_norm.",
    "norm3.": "feed_forward_norm.",
}


@pytest.fixture
def make_stack() -> Callable[..., nn.TransformerEncoder | nn.TransformerDecoder]:
    """PyTorch's own encoder or decoder, in float64 and full of random numbers."""

    def make(kind: str, norm: str, activation: str = "relu") -> nn.Module:
        torch.manual_seed(1)
        layer_class = getattr(nn, f"Transformer{kind}Layer")
        layer = layer_class(
            SMALL["d_model"],
            SMALL["n_heads"],
            SMALL["d_ff"],
            dropout=0.0,
            activation=activation,
            batch_first=True,
            norm_first=norm == "pre",
            dtype=torch.float64,
        )
        more = {"enable_nested_tensor": False} if kind == "Encoder" else {}
        final = nn.LayerNorm(SMALL["d_model"], dtype=torch.float64) if norm == "pre" else None
        stack = getattr(nn, f"Transformer{kind}")(layer, SMALL["n_layers"], norm=final, **more)
        for parameter in stack.parameters():  # also biases and norms, and no two layers alike
            nn.init.normal_(parameter, mean=0.2, std=0.4)
        return stack

    return make


@pytest.fixture
def our_names() -> Callable[[nn.Module], dict[str, nn.Parameter]]:
    """The parameters of such a stack under our names."""

    def rename(stack: nn.Module) -> dict[str, nn.Parameter]:
        names = DECODER_NAMES if isinstance(stack, nn.TransformerDecoder) else ENCODER_NAMES
        ours = {}
        for name, parameter in stack.named_parameters():
            for theirs in names:
                name = name.replace(f".{theirs}", f".{names[theirs]}")
            ours[name.replace("norm.", "final_norm.") if name.startswith("norm.") else name] = (
                parameter
            )
        return ours

    return rename
