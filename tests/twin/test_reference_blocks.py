import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from dragoman.config import ModelConfig
from dragoman.errors import InputTooLongError
from dragoman.reference.embeddings import embed, output_projection
from dragoman.reference.feed_forward import feed_forward, normal_cdf, sigmoid
from dragoman.reference.layer_norm import layer_norm
from dragoman.reference.parameters import add_up, part, under
from dragoman.reference.positional_encoding import learned_encoding, sinusoidal_encoding
from dragoman.reference.sublayer import residual

CLOSE = {"rtol": 0, "atol": 1e-10}


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def torch_feed_forward(params, x, activation):
    p = {name: torch.from_numpy(value) for name, value in params.items()}
    hidden = functional.linear(torch.from_numpy(x), p["w1.weight"], p["w1.bias"])
    if activation == "swiglu":
        gate, up = hidden.chunk(2, dim=-1)
        hidden = functional.silu(gate) * up
    else:
        hidden = {"relu": functional.relu, "gelu": functional.gelu}[activation](hidden)
    return functional.linear(hidden, p["w2.weight"], p["w2.bias"]).numpy()


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_feed_forward_equals_pytorch(rng, activation):
    rows = 22 if activation == "swiglu" else 11
    params = {"w1.weight": rng.normal(size=(rows, 12)), "w1.bias": rng.normal(size=rows)}
    params |= {"w2.weight": rng.normal(size=(12, 11)), "w2.bias": rng.normal(size=12)}
    x = rng.normal(size=(2, 5, 12))
    ours = feed_forward(params, x, activation=activation)
    np.testing.assert_allclose(ours, torch_feed_forward(params, x, activation), **CLOSE)


def test_sigmoid_and_normal_cdf_are_exact_and_never_overflow():
    x = np.array([-1e4, -40.0, -1.0, 0.0, 0.3, 40.0, 1e4])
    torch_x = torch.from_numpy(x)
    np.testing.assert_allclose(sigmoid(x), torch.sigmoid(torch_x).numpy(), rtol=1e-13)
    np.testing.assert_allclose(normal_cdf(x), torch.special.ndtr(torch_x).numpy(), **CLOSE)


def test_layer_norm_equals_pytorch(rng):
    x, weight, bias = rng.normal(3, 2, (2, 5, 12)), rng.normal(size=12), rng.normal(size=12)
    tensor, *weight_and_bias = map(torch.from_numpy, (x, weight, bias))
    theirs = functional.layer_norm(tensor, (12,), *weight_and_bias)
    ours = layer_norm({"weight": weight, "bias": bias}, x)
    np.testing.assert_allclose(ours, theirs.numpy(), **CLOSE)


def test_layer_norm_of_a_constant_vector_is_its_bias():
    params = {"weight": np.full(3, 5.0), "bias": np.array([1.0, 2.0, 3.0])}
    np.testing.assert_array_equal(layer_norm(params, np.full(3, 7.0)), [1, 2, 3])


@pytest.mark.parametrize("order", ["post", "pre"])
def test_the_residual_comes_before_or_after_the_norm(rng, order):
    x, weight, bias = rng.normal(size=(2, 3)), rng.normal(size=3), rng.normal(size=3)
    params = {"f_norm.weight": weight, "f_norm.bias": bias, "f.scale": np.array(3.0)}

    def norm(y):
        return functional.layer_norm(torch.from_numpy(y), (3,)).numpy() * weight + bias

    ours = residual(params, x, name="f", sublayer=lambda p, y: p["scale"] * y, order=order)
    hand = norm(x + 3 * x) if order == "post" else x + 3 * norm(x)
    np.testing.assert_allclose(ours, hand, **CLOSE)


def test_sinusoidal_encoding_follows_the_papers_formula():
    encoding = sinusoidal_encoding(300, 12)
    for pos, i in [(0, 0), (1, 0), (7, 2), (299, 5)]:
        angle = pos / 10000 ** (2 * i / 12)
        assert encoding[pos, 2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
        assert encoding[pos, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)


def test_positions_past_the_learned_ones_are_refused():
    assert learned_encoding(np.ones((3, 2)), 3).shape == (3, 2)
    with pytest.raises(InputTooLongError, match=r"4 tokens, but .* only 3 positions"):
        learned_encoding(np.ones((3, 2)), 4)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
def test_an_embedding_is_scaled_and_gets_its_position(rng, positions):
    config = ModelConfig(d_model=4, n_heads=1, positions=positions)
    params = {"embedding.weight": rng.normal(size=(9, 4)), "positions.weight": np.ones((5, 4))}
    ids = np.array([[8, 3, 8]])
    added = {"sinusoidal": sinusoidal_encoding(3, 4), "learned": np.ones((3, 4)), "rotary": 0}
    hand = 2 * params["embedding.weight"][ids] + added[positions]
    np.testing.assert_allclose(embed(params, ids, config=config), hand, **CLOSE)


def test_the_output_projection_has_no_bias(rng):
    table, x = rng.normal(size=(13, 4)), rng.normal(size=(2, 7, 4))
    np.testing.assert_allclose(
        output_projection(table, x), np.einsum("vd,btd->btv", table, x), **CLOSE
    )


def test_parts_of_the_parameters_are_cut_at_whole_names():
    params = {"layers.1.a": 1, "layers.10.a": 2, "layers": 3}
    assert part(params, "layers.1") == {"a": 1}
    assert part(under("x.y", {"a": 1}), "x") == {"y.a": 1}


def test_gradients_of_one_name_add_up_and_leave_their_terms_alone():
    one, two = {"w": np.ones(2)}, {"w": np.full(2, 5.0), "b": np.zeros(1)}
    np.testing.assert_array_equal(add_up(one, two)["w"], [6, 6])
    np.testing.assert_array_equal(one["w"], [1, 1])
