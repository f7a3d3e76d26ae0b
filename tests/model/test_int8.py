"""int8: near the exact model, in every shape, and with whole numbers where it says so."""

import copy

import pytest
import torch
from torch import nn

from dragoman.config import ModelConfig
from dragoman.decoding.greedy import greedy
from dragoman.model.int8 import LARGEST, Int8Linear, quantize
from dragoman.model.transformer import Transformer

SIZES = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 48, "vocab_size": 40}


def make(**shape) -> Transformer:
    torch.manual_seed(1)
    return Transformer(ModelConfig(**{**SIZES, **shape})).eval().requires_grad_(False)


@pytest.fixture(autouse=True)
def every_width_is_wide(monkeypatch):
    """The layers of these small models are to be integers too."""
    monkeypatch.setattr("dragoman.model.int8.NARROW", 1)


@pytest.fixture
def ids():
    return torch.tensor([[5, 6, 7, 8, 2], [9, 10, 2, 0, 0]]), torch.tensor(
        [[1, 11, 12], [1, 13, 0]]
    )


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"norm": "pre", "tie": "none", "activation": "swiglu"},
        {"tie": "decoder", "activation": "gelu", "positions": "learned"},
        {"positions": "rotary", "norm": "pre"},
        {"d_k": 6, "d_v": 10},
    ],
    ids=str,
)
def test_its_logits_are_near_those_of_the_exact_model(shape, ids):
    model = make(**shape)
    exact = model(*ids)[:, :2]
    found = quantize(copy.deepcopy(model))(*ids)[:, :2]
    spread = exact.std()
    assert 0 < (found - exact).abs().max() < 0.15 * spread
    assert (found - exact).abs().mean() < 0.03 * spread


def test_decoding_step_by_step_is_decoding_at_once(ids):
    model = quantize(make())
    src, tgt = ids[0][:1], ids[1][:1]
    whole = model(src, tgt)[0]
    cache = model.start(src, n_beams=1, capacity=3)
    steps = torch.stack([model.step(tgt[:, t], cache)[0] for t in range(3)])
    # The scale is that of all numbers at once, or of one step's: near, not equal.
    assert (steps - whole).abs().max() < 0.15 * whole.std()


def test_a_search_finds_nearly_always_the_same():
    model = make(tie="none")
    model.output.weight.mul_(6.0)
    small = quantize(copy.deepcopy(model))
    generator = torch.Generator().manual_seed(3)
    src_ids = torch.randint(4, 40, (30, 6), generator=generator)
    src_ids[:, -1] = 2
    pairs = list(zip(greedy(model, src_ids), greedy(small, src_ids), strict=True))
    assert sum(a == b for a, b in pairs) >= 10  # one token that differs, and all after it do
    assert sum(a[:3] == b[:3] for a, b in pairs) >= 24


def test_whole_weights_and_whole_inputs_give_exact_products():
    # The largest weight of each row is 63 and that of the input 255 steps: all scales are 1.
    generator = torch.Generator().manual_seed(1)
    weight = torch.randint(-LARGEST, LARGEST + 1, (8, 64), generator=generator).float()
    weight[:, 0] = LARGEST
    x = torch.randint(0, 256, (5, 64), generator=generator).float()
    x[:, :2] = torch.tensor([255.0, 0.0])
    torch.testing.assert_close(Int8Linear(weight, None)(x), x @ weight.T, rtol=1e-6, atol=1e-2)


def test_the_worst_case_does_not_overflow():
    weight, x = torch.full((4, 512), float(LARGEST)), torch.full((2, 512), 255.0)
    x[:, 0] = 0.0
    found = Int8Linear(weight, torch.ones(4))(x)
    torch.testing.assert_close(found, x @ weight.T + 1, rtol=1e-5, atol=0)


def test_a_row_of_zeros_gives_zeros():
    weight = torch.zeros(3, 8)
    weight[1] = 1.0
    found = Int8Linear(weight, None)(torch.ones(2, 8))
    torch.testing.assert_close(found, torch.tensor([[0.0, 8.0, 0.0]] * 2), rtol=0.02, atol=1e-6)


def test_all_matrices_are_packed_and_none_is_kept_twice():
    for tie in ("all", "none"):
        model = quantize(make(tie=tie))
        assert not [name for name, part in model.named_modules() if isinstance(part, nn.Linear)]
        left = {name for name, parameter in model.named_parameters() if parameter.dim() == 2}
        wanted = {"embedding.weight"} if tie == "all" else {"src_embedding.weight"}
        assert left <= wanted | {"tgt_embedding.weight"}


def test_the_layers_of_a_narrow_model_stay_as_they_are(ids, monkeypatch):
    model = make()
    monkeypatch.setattr("dragoman.model.int8.NARROW", 33)
    found = quantize(copy.deepcopy(model))
    src, tgt = ids
    torch.testing.assert_close(found.encode(src), model.encode(src), rtol=0, atol=0)
    difference = (found(src, tgt) - model(src, tgt))[:, :2].abs()
    assert 0 < difference.max() < 0.1 * model(src, tgt).std()


@torch.inference_mode()
def test_and_go_in_one_call(ids, monkeypatch):
    monkeypatch.setattr("dragoman.model.int8.NARROW", 33)
    assert quantize(make()).start(ids[0], n_beams=1, capacity=3).whole_step is not None
