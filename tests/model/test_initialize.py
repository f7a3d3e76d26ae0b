import math

import pytest
import torch
from torch import nn

from dragoman.model.decoder_only import DecoderOnly
from dragoman.model.encoder_only import EncoderOnly
from dragoman.model.initialize import initialize
from dragoman.model.transformer import Transformer


def bound(n_out, n_in):
    """Xavier's: uniform within ± √(6 / (n_in + n_out))."""
    return math.sqrt(6 / (n_in + n_out))


def assert_uniform(weight, limit):
    """Within ± limit, coming close to it, with the standard deviation limit / √3."""
    assert weight.abs().max() <= limit
    assert weight.abs().max() > 0.97 * limit
    assert weight.std().item() == pytest.approx(limit / math.sqrt(3), rel=0.1)


@pytest.fixture
def wide(make_config):
    """A model wide enough for statistics, with queries much narrower than values."""
    torch.manual_seed(1)
    return Transformer(
        make_config(
            d_model=48, n_heads=2, d_k=8, d_v=96, d_ff=80, n_layers=1, vocab_size=211, tie="none"
        )
    )


def test_each_projection_has_the_bound_of_its_own_shape(wide):
    decoder = wide.decoder.layers[0]
    for attention in (decoder.self_attention, decoder.cross_attention):
        q, k, v = attention.qkv.weight.split([16, 16, 192])
        assert_uniform(q, bound(16, 48))  # 2 heads of 8
        assert_uniform(k, bound(16, 48))
        assert_uniform(v, bound(192, 48))  # 2 heads of 96
        assert_uniform(attention.out.weight, bound(48, 192))


def test_feed_forward_and_output_have_the_bounds_of_their_shapes(wide):
    network = wide.encoder.layers[0].feed_forward
    assert_uniform(network.w1.weight, bound(80, 48))
    assert_uniform(network.w2.weight, bound(48, 80))
    assert_uniform(wide.output.weight, bound(211, 48))


def test_the_two_halves_of_swiglu_are_matrices_of_their_own(make_config):
    torch.manual_seed(1)
    model = Transformer(make_config(d_model=48, d_ff=80, n_layers=1, activation="swiglu"))
    gate, up = model.encoder.layers[0].feed_forward.w1.weight.chunk(2)
    assert_uniform(gate, bound(80, 48))
    assert_uniform(up, bound(80, 48))


@pytest.mark.parametrize("pad_id", [0, 4])
def test_embeddings_have_variance_one_over_width_and_a_zero_row_for_padding(make_config, pad_id):
    torch.manual_seed(1)
    model = Transformer(make_config(d_model=48, vocab_size=2000, pad_id=pad_id, n_layers=1))
    weight = model.embedding.weight
    assert (weight[pad_id] == 0).all()
    assert int((weight == 0).all(1).sum()) == 1
    assert weight.std().item() == pytest.approx(48**-0.5, rel=0.02)
    assert weight.mean().item() == pytest.approx(0, abs=0.002)


def test_learned_positions_are_drawn_like_embeddings(make_config):
    torch.manual_seed(1)
    model = Transformer(make_config(d_model=48, positions="learned", max_positions=2000))
    assert model.src_positions.weight.std().item() == pytest.approx(48**-0.5, rel=0.02)
    assert (model.src_positions.weight != 0).any(1).all()  # position 0 is no padding
    assert not torch.equal(model.src_positions.weight, model.tgt_positions.weight)


def test_biases_are_zero_and_norms_are_one(any_config):
    for name, parameter in Transformer(any_config).named_parameters():
        if name.endswith("bias"):
            assert (parameter == 0).all(), name
        elif "norm" in name:
            assert (parameter == 1).all(), name


@pytest.mark.parametrize("kind", [Transformer, EncoderOnly, DecoderOnly])
def test_the_same_seed_gives_the_same_model_and_another_seed_another(any_config, kind):
    def drawn(seed):
        torch.manual_seed(seed)
        return kind(any_config).state_dict()

    first, again, other = drawn(1), drawn(1), drawn(2)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_every_parameter_is_drawn_anew(any_config):
    model = Transformer(any_config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(math.nan)
    initialize(model)
    assert all(parameter.isfinite().all() for parameter in model.parameters())


def test_a_linear_map_without_bias_is_fine():
    linear = nn.Linear(3, 2, bias=False)
    initialize(linear)
    assert linear.weight.abs().max() <= bound(2, 3)
