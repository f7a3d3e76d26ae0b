import pytest
import torch
from torch.testing import assert_close

from dragoman.model.attention import fused_attention, scaled_dot_product_attention
from dragoman.model.short_attention import SHORT, is_short, short_attention


def heads(length, *, width=4, seed=1):
    generator = torch.Generator().manual_seed(seed)
    shape = (2, 3, length, width)
    return torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()


MASKS = {
    "none": None,
    "keys": torch.tensor([[True, True, True, True, True], [True, True, False, False, False]])[
        :, None, None
    ],
    "nothing": torch.tensor([True, False]).view(2, 1, 1, 1).expand(2, 1, 1, 5),
    "window": torch.ones(1, 1, 5, 5, dtype=torch.bool).tril(1).triu(-1),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_values_and_gradients_are_those_of_the_text(mask):
    q, k, v = heads(5), heads(5, seed=2), heads(5, width=6, seed=3)
    direction = torch.randn(2, 3, 5, 6, dtype=torch.float64)
    expected, _ = scaled_dot_product_attention(q, k, v, mask)
    found = short_attention(q, k, v, mask)
    assert_close(found, expected, rtol=0, atol=1e-12)
    wanted = torch.autograd.grad((expected * direction).sum(), (q, k, v))
    given = torch.autograd.grad((found * direction).sum(), (q, k, v))
    for one, other in zip(given, wanted, strict=True):
        assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_one_query_gets_what_it_gets_among_many(mask):
    q, k, v = heads(5), heads(5, seed=2), heads(5, width=6, seed=3)
    with torch.no_grad():
        expected, _ = scaled_dot_product_attention(q, k, v, mask)
        for i in range(5):
            own = mask[:, :, i : i + 1] if mask is not None and mask.size(2) > 1 else mask
            found = fused_attention(q[:, :, i : i + 1], k, v, own)
            assert_close(found, expected[:, :, i : i + 1], rtol=0, atol=1e-12)


def test_gradients_are_finite_differences():
    q, k, v = heads(2), heads(3, seed=2), heads(3, seed=3)
    assert torch.autograd.gradcheck(lambda *qkv: short_attention(*qkv, None), (q, k, v))


@pytest.mark.parametrize("length", [7, SHORT, SHORT + 1])
def test_training_sees_the_past_alone_at_any_length(length):
    q, k, v = heads(length), heads(length, seed=2), heads(length, seed=3)
    past = torch.ones(length, length, dtype=torch.bool).tril()
    expected, _ = scaled_dot_product_attention(q, k, v, past)
    assert_close(fused_attention(q, k, v, causal=True), expected, rtol=0, atol=1e-12)


def test_only_short_sentences_and_single_queries_go_this_way():
    q = heads(5)
    assert is_short(q, q, None)
    assert is_short(q, q, torch.ones(5, 5, dtype=torch.bool))
    assert not is_short(q, q, torch.zeros(5, 5))  # a mask of numbers is added, not looked through
    assert not is_short(q, heads(SHORT + 1), None)
    assert is_short(heads(1), heads(SHORT + 1), None)
