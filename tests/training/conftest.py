"""A small model without dropout in float64, batches with padding, and settings for them."""

import numpy as np
import pytest
import torch

from dragoman.batches.batch import make_batch
from dragoman.config import ModelConfig, TrainConfig
from dragoman.model.transformer import Transformer

SIZES = {"d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 11, "vocab_size": 13, "dropout": 0.0}


@pytest.fixture
def make_model():
    """A function: the small model of a seed with the given options, in float64."""

    def make(*, seed=1, dtype=torch.float64, **options):
        torch.manual_seed(seed)
        return Transformer(ModelConfig(**(SIZES | options))).to(dtype)

    return make


@pytest.fixture
def make_pairs():
    """A function: seeded pairs of piece ids of 1 to 6 pieces."""

    def make(n, *, seed=1):
        rng = np.random.default_rng(seed)
        return [tuple(rng.integers(4, 13, rng.integers(1, 7)) for _ in "st") for _ in range(n)]

    return make


@pytest.fixture
def batch(make_pairs):
    """Eight pairs, with padding on both sides."""
    return make_batch(make_pairs(8))


@pytest.fixture
def make_train():
    """A function: training settings for a small model, with the given ones changed."""
    return lambda **options: TrainConfig(**({"schedule": "constant", "seed": 1} | options))
