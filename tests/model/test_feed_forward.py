import math

import pytest
import torch
from torch.testing import assert_close

from dragoman.model.feed_forward import FeedForward


@pytest.fixture
def one_by_hand(make_config):
    """A function: the network of width 1 with w1 = 2, b1 = -1, w2 = 3, b2 = 0.5 (up: x + 4)."""

    def network(activation):
        config = make_config(
            d_model=1, n_heads=1, d_ff=1, positions="learned", activation=activation
        )
        module = FeedForward(config).double()
        with torch.no_grad():
            gate_and_up = [[2.0], [1.0]], [-1.0, 4.0]
            n = module.w1.out_features
            module.w1.weight.copy_(torch.tensor(gate_and_up[0])[:n])
            module.w1.bias.copy_(torch.tensor(gate_and_up[1])[:n])
            module.w2.weight.fill_(3.0)
            module.w2.bias.fill_(0.5)
        return lambda x: module(torch.tensor([x], dtype=torch.float64)).item()

    return network


def test_relu_agrees_with_hand_arithmetic(one_by_hand):
    network = one_by_hand("relu")
    assert network(2.0) == pytest.approx(3 * 3 + 0.5)
    assert network(-2.0) == pytest.approx(0.5)


def test_gelu_is_the_exact_one(one_by_hand):
    inner = 3.0
    gelu = inner * 0.5 * (1 + math.erf(inner / math.sqrt(2)))
    assert one_by_hand("gelu")(2.0) == pytest.approx(3 * gelu + 0.5, rel=1e-12)


def test_swiglu_gates_the_second_half_by_the_silu_of_the_first(one_by_hand):
    gate, up = 3.0, 6.0
    silu = gate / (1 + math.exp(-gate))
    assert one_by_hand("swiglu")(2.0) == pytest.approx(3 * silu * up + 0.5, rel=1e-12)


@pytest.mark.parametrize(("activation", "inner"), [("relu", 11), ("gelu", 11), ("swiglu", 22)])
def test_the_matrices_have_the_promised_shapes(make_config, activation, inner):
    module = FeedForward(make_config(activation=activation))
    assert module.w1.weight.shape == (inner, 12)
    assert module.w2.weight.shape == (12, 11)


def test_every_position_is_treated_alike_and_alone(make_config, shake, random):
    module = shake(FeedForward(make_config()))
    x = random(2, 5, 12)
    assert_close(module(x)[1, 3], module(x[1, 3]), rtol=0, atol=1e-12)


def test_inner_dropout_works_in_training_alone(make_config, shake, random):
    module = shake(FeedForward(make_config(dropout=0.0, feed_forward_dropout=0.5)))
    x = random(2, 5, 12)
    expected = module(x)
    torch.manual_seed(1)
    assert not torch.allclose(module.train()(x), expected)
    assert torch.equal(module.eval()(x), expected)


def test_inner_dropout_is_the_models_dropout_unless_set(make_config):
    assert FeedForward(make_config(dropout=0.3)).dropout == 0.3
    assert FeedForward(make_config(dropout=0.3, feed_forward_dropout=0.0)).dropout == 0.0
