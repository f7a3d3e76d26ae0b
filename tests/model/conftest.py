"""Small models for the tests: all sizes different, float64, and no weight left at its start.

B=2 H=3 K=4 S=5 T=7 F=11 D=12 V=13, so that a swapped axis fails. Biases, norms and the row of
padding are moved away from 0 and 1, so that one that is forgotten, or not masked, is felt.
"""

import pytest
import torch

from dragoman.config import ModelConfig

SIZES = {
    "d_model": 12,
    "n_heads": 3,
    "n_layers": 2,
    "d_ff": 11,
    "vocab_size": 13,
    "dropout": 0.0,
}
OPTIONS = {
    "paper": {},
    "pre-norm": {"norm": "pre"},
    "gelu": {"activation": "gelu"},
    "swiglu": {"activation": "swiglu"},
    "learned": {"positions": "learned", "max_positions": 9},
    "rotary": {"positions": "rotary"},
    "two-tied": {"tie": "decoder", "src_vocab_size": 17},
    "untied": {"tie": "none", "src_vocab_size": 17},
    "window": {"window": 2},
    "free-heads": {"d_k": 6, "d_v": 5},
    "uneven": {"n_encoder_layers": 1, "n_decoder_layers": 3},
    "modern": {
        "norm": "pre",
        "activation": "swiglu",
        "positions": "rotary",
        "tie": "none",
        "window": 1,
        "d_k": 2,
        "d_v": 5,
    },
    "pre-learned-window": {
        "norm": "pre",
        "activation": "gelu",
        "positions": "learned",
        "max_positions": 9,
        "tie": "decoder",
        "window": 3,
    },
}


@pytest.fixture
def make_config():
    """A function: the small config with the given options."""
    return lambda **options: ModelConfig(**(SIZES | options))


@pytest.fixture(params=OPTIONS.values(), ids=OPTIONS.keys())
def any_config(request):
    """The small config with each option in turn, and with several together."""
    return ModelConfig(**(SIZES | request.param))


@pytest.fixture
def shake():
    """A function: the module in float64 and eval mode, every parameter moved by a seeded noise."""

    def shaken(module, seed=1):
        generator = torch.Generator().manual_seed(seed)
        module = module.double().eval()
        with torch.no_grad():
            for parameter in module.parameters():
                noise = torch.empty_like(parameter).normal_(std=0.4, generator=generator)
                parameter.copy_((parameter.ndim == 1) * 0.3 + noise)
        return module

    return shaken


@pytest.fixture
def make_ids():
    """A function: seeded ids, one row a given length, padded with 0 to the longest or to width."""

    def ids(*lengths, width=0, seed=0, vocab=13):
        generator = torch.Generator().manual_seed(seed)
        width = max(width, *lengths)
        drawn = torch.randint(4, vocab, (len(lengths), width), generator=generator)
        return drawn * (torch.arange(width) < torch.tensor(lengths)[:, None])

    return ids


@pytest.fixture
def random():
    """A function: a seeded normal float64 tensor of the given shape."""

    def normal(*shape, seed=0):
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return normal


@pytest.fixture
def gradients():
    """A function: each parameter's gradient of the output weighted by fixed random numbers."""

    def of(module, output):
        generator = torch.Generator().manual_seed(5)
        weights = torch.randn(output.shape, generator=generator, dtype=output.dtype)
        parameters = dict(module.named_parameters())
        grads = torch.autograd.grad(
            (output * weights).sum(), list(parameters.values()), allow_unused=True
        )
        return {
            name: torch.zeros_like(parameters[name]) if grad is None else grad
            for name, grad in zip(parameters, grads, strict=True)
        }

    return of
