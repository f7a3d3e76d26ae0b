import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.reference.attention import (
    merge_heads,
    multi_head_attention,
    scaled_dot_product_attention,
    split_heads,
)
from dragoman.reference.masks import (
    causal_mask,
    decoder_mask,
    encoder_mask,
    padding_mask,
    window_mask,
)
from dragoman.reference.rotary import rotate
from dragoman.reference.softmax import log_softmax, softmax

B, H, K, KV, L, M, D = 2, 3, 4, 6, 5, 7, 12
CLOSE = {"rtol": 0, "atol": 1e-10}


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def params_from(attention):
    return {
        "qkv.weight": attention.in_proj_weight.detach().numpy(),
        "qkv.bias": attention.in_proj_bias.detach().numpy(),
        "out.weight": attention.out_proj.weight.detach().numpy(),
        "out.bias": attention.out_proj.bias.detach().numpy(),
    }


@pytest.fixture
def torch_attention():
    torch.manual_seed(1)
    attention = torch.nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    for parameter in attention.parameters():  # biases too: they begin at zero
        torch.nn.init.normal_(parameter, std=0.5)
    return attention


def test_attention_agrees_with_hand_arithmetic():
    # q·k0 / sqrt(4) = ln 3 and q·k1 = 0, so the weights are 3/4 and 1/4
    q = np.ones((1, 1, 1, 4))
    k = np.stack([np.full(4, math.log(3) / 2), np.zeros(4)])[None, None]
    v = np.array([8.0, 0.0]).reshape(1, 1, 2, 1)
    out, weights = scaled_dot_product_attention(q, k, v)
    np.testing.assert_allclose(weights.ravel(), [0.75, 0.25], **CLOSE)
    assert out.item() == pytest.approx(6.0)


def test_attention_equals_pytorch_with_values_of_another_width(rng):
    q, k = rng.normal(size=(B, H, L, K)), rng.normal(size=(B, H, M, K))
    v, mask = rng.normal(size=(B, H, M, KV)), rng.random((B, 1, L, M)) < 0.6
    mask[..., 0] = True
    out, weights = scaled_dot_product_attention(q, k, v, mask)
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *(torch.from_numpy(a) for a in (q, k, v)), attn_mask=torch.from_numpy(mask)
    )
    np.testing.assert_allclose(out, theirs.numpy(), **CLOSE)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, **CLOSE)


def test_a_query_with_nothing_to_attend_gives_zeros(rng):
    q = k = v = rng.normal(size=(1, 1, 2, K))
    mask = np.array([[True, True], [False, False]])
    out, weights = scaled_dot_product_attention(q, k, v, mask)
    assert (out[0, 0, 1] == 0).all()
    assert (weights[0, 0, 1] == 0).all()
    assert (out[0, 0, 0] != 0).all()  # control


def test_attention_to_no_keys_at_all_gives_zeros():
    nothing = np.ones((1, 1, 0, K))
    out, _ = scaled_dot_product_attention(np.ones((1, 1, 2, K)), nothing, nothing)
    np.testing.assert_array_equal(out, np.zeros((1, 1, 2, K)))


@pytest.mark.parametrize("cross", [False, True])
def test_multi_head_attention_equals_pytorch(rng, torch_attention, cross):
    x = rng.normal(size=(B, L, D))
    memory = rng.normal(size=(B, M, D)) if cross else x
    mask = rng.random((B, 1, L, memory.shape[1])) < 0.6
    mask[..., 0] = True
    record: dict[str, np.ndarray] = {}
    ours = multi_head_attention(
        params_from(torch_attention), x, memory, mask=mask, n_heads=H, record=record, name="here"
    )
    theirs, weights = torch_attention(
        *(torch.from_numpy(a) for a in (x, memory, memory)),
        attn_mask=torch.from_numpy(~mask).repeat_interleave(H, dim=1).flatten(0, 1),
        average_attn_weights=False,
    )
    np.testing.assert_allclose(ours, theirs.detach().numpy(), **CLOSE)
    np.testing.assert_allclose(record["here"], weights.detach().numpy(), **CLOSE)


def test_heads_are_contiguous_slices_and_merge_back():
    x = np.arange(B * L * H * K).reshape(B, L, H * K)
    heads = split_heads(x, H)
    np.testing.assert_array_equal(heads[1, 2, 3], x[1, 3, 2 * K : 3 * K])
    np.testing.assert_array_equal(merge_heads(heads), x)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
@settings(deadline=None, max_examples=30)
def test_rotary_scores_depend_on_distance_alone(query_at, key_at, shift):
    rng = np.random.default_rng(1)
    q, k = rng.normal(size=(1, 6)), rng.normal(size=(1, 6))

    def score(i, j):
        return (rotate(q, np.array([i])) @ rotate(k, np.array([j])).T).item()

    assert score(query_at, key_at) == pytest.approx(score(query_at + shift, key_at + shift))


def test_rotation_turns_neighbouring_pairs():
    # d_k = 4: the angles of position 3 are 3 and 3 / 10000^(2/4) = 0.03
    turned = rotate(np.array([[1.0, 0.0, 0.0, 2.0]]), np.array([3]))
    hand = [math.cos(3), math.sin(3), -2 * math.sin(0.03), 2 * math.cos(0.03)]
    np.testing.assert_allclose(turned[0], hand, **CLOSE)


def test_masks_agree_with_hand_drawn_ones():
    ids = np.array([[7, 7, 7, 0]])
    assert padding_mask(ids, 0).shape == (1, 1, 1, 4)
    assert causal_mask(4).shape == window_mask(4, 1).shape == (1, 1, 4, 4)
    rows = encoder_mask(ids, 0, 1)[0, 0].astype(int).tolist()
    assert rows == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0]]
    rows = decoder_mask(ids, 0, 1)[0, 0].astype(int).tolist()
    assert rows == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0]]


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=8))
@settings(deadline=None, max_examples=50)
def test_softmax_and_its_logarithm_equal_pytorchs_for_any_size_of_scores(scores):
    ours, theirs = np.array(scores), torch.tensor(scores, dtype=torch.float64)
    np.testing.assert_allclose(softmax(ours), torch.softmax(theirs, 0).numpy(), **CLOSE)
    np.testing.assert_allclose(log_softmax(ours), torch.log_softmax(theirs, 0).numpy(), **CLOSE)


def test_softmax_keeps_the_type_of_its_scores():
    assert softmax(np.ones(3, dtype=np.float32), np.array([True, False, True])).dtype == np.float32
