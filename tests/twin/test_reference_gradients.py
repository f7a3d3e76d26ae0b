"""Gradients by hand against two judges: PyTorch's autograd and finite differences."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from dragoman.config import ModelConfig
from dragoman.reference.attention import multi_head_attention, scaled_dot_product_attention
from dragoman.reference.embeddings import embed
from dragoman.reference.feed_forward import feed_forward
from dragoman.reference.gradients import (
    embed_backward,
    feed_forward_backward,
    layer_norm_backward,
    linear_backward,
    multi_head_attention_backward,
    output_projection_backward,
    scaled_dot_product_attention_backward,
    smoothed_loss_backward,
    softmax_backward,
)
from dragoman.reference.label_smoothing import smoothed_loss
from dragoman.reference.layer_norm import layer_norm
from dragoman.reference.masks import causal_mask
from dragoman.reference.numerical_gradient import numerical_gradient

CLOSE = {"rtol": 0, "atol": 1e-10}
NEAR = {"rtol": 1e-6, "atol": 1e-8}  # what central differences can promise
B, H, K, KV, L, M, D, F, V = 2, 3, 4, 6, 5, 7, 12, 11, 13


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def leaves(*arrays):
    return [torch.from_numpy(array).requires_grad_() for array in arrays]


def assert_all_close(ours, theirs, **tolerance):
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, **tolerance)


def test_linear(rng):
    x, weight, bias = rng.normal(size=(B, L, D)), rng.normal(size=(F, D)), rng.normal(size=F)
    d_out = rng.normal(size=(B, L, F))
    inputs = leaves(x, weight, bias)
    functional.linear(*inputs).backward(torch.from_numpy(d_out))
    assert_all_close(linear_backward(d_out, x, weight), [i.grad.numpy() for i in inputs], **CLOSE)


def test_softmax(rng):
    scores, d_out = rng.normal(size=(B, L)), rng.normal(size=(B, L))
    (leaf,) = leaves(scores)
    weights = torch.softmax(leaf, -1)
    weights.backward(torch.from_numpy(d_out))
    ours = softmax_backward(d_out, weights.detach().numpy())
    np.testing.assert_allclose(ours, leaf.grad.numpy(), **CLOSE)


@pytest.fixture
def attention_inputs(rng):
    q, k = rng.normal(size=(B, H, L, K)), rng.normal(size=(B, H, M, K))
    v, mask = rng.normal(size=(B, H, M, KV)), rng.random((B, 1, L, M)) < 0.6
    mask[..., 0] = True
    return q, k, v, mask


def test_attention_against_autograd(rng, attention_inputs):
    *qkv, mask = attention_inputs
    d_out = rng.normal(size=(B, H, L, KV))
    inputs = leaves(*qkv)
    out = functional.scaled_dot_product_attention(*inputs, attn_mask=torch.from_numpy(mask))
    out.backward(torch.from_numpy(d_out))
    ours = scaled_dot_product_attention_backward(d_out, *qkv, mask)
    assert_all_close(ours, [i.grad.numpy() for i in inputs], **CLOSE)


def test_attention_against_finite_differences_where_a_query_sees_nothing(rng, attention_inputs):
    *qkv, mask = attention_inputs
    mask[0, 0, 2] = False
    d_out = rng.normal(size=(B, H, L, KV))

    def function():
        return float((scaled_dot_product_attention(*qkv, mask)[0] * d_out).sum())

    ours = scaled_dot_product_attention_backward(d_out, *qkv, mask)
    assert_all_close(ours, [numerical_gradient(function, a) for a in qkv], **NEAR)
    assert (ours[0][0, :, 2] == 0).all()
    assert (ours[0][0, :, 1] != 0).any()  # control


def multi_head_params(rng, d_k, d_v):
    rows = 2 * H * d_k + H * d_v
    return {
        "qkv.weight": rng.normal(size=(rows, D)),
        "qkv.bias": rng.normal(size=rows),
        "out.weight": rng.normal(size=(D, H * d_v)),
        "out.bias": rng.normal(size=D),
    }


@pytest.mark.parametrize("cross", [False, True])
def test_multi_head_attention_against_autograd(rng, cross):
    params = multi_head_params(rng, K, K)
    x, memory = rng.normal(size=(B, L, D)), rng.normal(size=(B, M if cross else L, D))
    mask = None if cross else causal_mask(L)
    d_out = rng.normal(size=(B, L, D))
    theirs = torch.nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    named = {
        "qkv.weight": theirs.in_proj_weight,
        "qkv.bias": theirs.in_proj_bias,
        "out.weight": theirs.out_proj.weight,
        "out.bias": theirs.out_proj.bias,
    }
    for name, parameter in named.items():
        parameter.data = torch.from_numpy(params[name])
    q, kv = leaves(x, memory)
    hidden = None if cross else torch.from_numpy(~mask[0, 0])
    theirs(q, kv, kv, attn_mask=hidden)[0].backward(torch.from_numpy(d_out))
    d_x, d_memory, grads = multi_head_attention_backward(
        d_out, params, x, memory, mask=mask, n_heads=H
    )
    assert_all_close((d_x, d_memory), (q.grad.numpy(), kv.grad.numpy()), **CLOSE)
    for name, parameter in named.items():
        np.testing.assert_allclose(grads[name], parameter.grad.numpy(), err_msg=name, **CLOSE)


@pytest.mark.parametrize("rotary", [False, True])
def test_multi_head_attention_with_free_sizes_against_finite_differences(rng, rotary):
    params = multi_head_params(rng, 2, 5)
    x, memory = rng.normal(size=(B, 3, D)), rng.normal(size=(B, 4, D))
    given = {"mask": rng.random((B, 1, 3, 4)) < 0.7, "n_heads": H, "rotary": rotary}
    d_out = rng.normal(size=(B, 3, D))

    def function():
        return float((multi_head_attention(params, x, memory, **given) * d_out).sum())

    d_x, d_memory, grads = multi_head_attention_backward(d_out, params, x, memory, **given)
    np.testing.assert_allclose(d_x, numerical_gradient(function, x), **NEAR)
    np.testing.assert_allclose(d_memory, numerical_gradient(function, memory), **NEAR)
    for name, value in params.items():
        numerical = numerical_gradient(function, value)
        np.testing.assert_allclose(grads[name], numerical, err_msg=name, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_feed_forward_against_both_judges(rng, activation):
    rows = 2 * F if activation == "swiglu" else F
    params = {"w1.weight": rng.normal(size=(rows, D)), "w1.bias": rng.normal(size=rows)}
    params |= {"w2.weight": rng.normal(size=(D, F)), "w2.bias": rng.normal(size=D)}
    x, d_out = rng.normal(size=(B, L, D)), rng.normal(size=(B, L, D))
    d_x, grads = feed_forward_backward(d_out, params, x, activation=activation)

    w1, b1, w2, b2, leaf = inputs = leaves(*params.values(), x)
    hidden = functional.linear(leaf, w1, b1)
    if activation == "swiglu":
        gate, up = hidden.chunk(2, dim=-1)
        hidden = functional.silu(gate) * up
    else:
        hidden = getattr(functional, activation)(hidden)
    functional.linear(hidden, w2, b2).backward(torch.from_numpy(d_out))
    assert_all_close((*grads.values(), d_x), [i.grad.numpy() for i in inputs], **CLOSE)

    def function():
        return float((feed_forward(params, x, activation=activation) * d_out).sum())

    np.testing.assert_allclose(d_x, numerical_gradient(function, x), **NEAR)


def test_layer_norm_against_both_judges(rng):
    params = {"weight": rng.normal(size=D), "bias": rng.normal(size=D)}
    x, d_out = rng.normal(3, 2, (B, L, D)), rng.normal(size=(B, L, D))
    d_x, grads = layer_norm_backward(d_out, params, x)
    leaf, weight, bias = inputs = leaves(x, *params.values())
    functional.layer_norm(leaf, (D,), weight, bias).backward(torch.from_numpy(d_out))
    assert_all_close((d_x, *grads.values()), [i.grad.numpy() for i in inputs], **CLOSE)

    def function():
        return float((layer_norm(params, x) * d_out).sum())

    np.testing.assert_allclose(d_x, numerical_gradient(function, x), **NEAR)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
def test_embeddings_with_repeated_ids_against_finite_differences(rng, positions):
    config = ModelConfig(d_model=4, n_heads=1, positions=positions)
    params = {"embedding.weight": rng.normal(size=(V, 4)), "positions.weight": np.ones((9, 4))}
    ids, d_out = np.array([[5, 5, 1], [5, 2, 0]]), rng.normal(size=(2, 3, 4))

    def function():
        return float((embed(params, ids, config=config) * d_out).sum())

    grads = embed_backward(d_out, params, ids, config=config)
    assert ("positions.weight" in grads) == (positions == "learned")
    for name, value in grads.items():
        np.testing.assert_allclose(value, numerical_gradient(function, params[name]), **NEAR)


def test_output_projection(rng):
    x, table, d_logits = (rng.normal(size=s) for s in [(B, L, D), (V, D), (B, L, V)])
    inputs = leaves(x, table)
    functional.linear(*inputs).backward(torch.from_numpy(d_logits))
    ours = output_projection_backward(d_logits, table, x)
    assert_all_close(ours, [i.grad.numpy() for i in inputs], **CLOSE)


@pytest.mark.parametrize("form", ["uniform", "kl"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_loss_against_finite_differences(rng, batch, form, epsilon):
    logits, tgt_out = rng.normal(size=(2, 7, V)), batch["tgt_out"]
    given = {"epsilon": epsilon, "form": form, "pad_id": 0}
    ours = smoothed_loss_backward(logits, tgt_out, **given)
    numerical = numerical_gradient(lambda: smoothed_loss(logits, tgt_out, **given)[0], logits)
    np.testing.assert_allclose(ours, numerical, **NEAR)
    assert (ours[tgt_out == 0] == 0).all()
