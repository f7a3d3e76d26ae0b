from functools import partial

import pytest
import torch
from torch.testing import assert_close as assert_near

from dragoman.model.attention import Probe, View
from dragoman.model.encoder import Encoder, EncoderLayer

assert_close = partial(assert_near, rtol=0, atol=1e-10)


def test_a_post_norm_layer_is_the_papers_formula(make_config, shake, random):
    layer = shake(EncoderLayer(make_config(), name="encoder.0"))
    x = random(2, 5, 12)
    y = layer.self_attention_norm(x + layer.self_attention(x, None, View()))
    assert_close(layer(x, View()), layer.feed_forward_norm(y + layer.feed_forward(y)))


def test_a_pre_norm_layer_normalizes_what_enters_its_sublayers(make_config, shake, random):
    layer = shake(EncoderLayer(make_config(norm="pre"), name="encoder.0"))
    x = random(2, 5, 12)
    y = x + layer.self_attention(layer.self_attention_norm(x), None, View())
    assert_close(layer(x, View()), y + layer.feed_forward(layer.feed_forward_norm(y)))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_stack_runs_its_layers_in_turn_and_closes_pre_norm_with_a_norm(
    make_config, shake, random, norm
):
    encoder = shake(Encoder(make_config(norm=norm), 3))
    x = expected = random(2, 5, 12)
    for layer in encoder.layers:
        expected = layer(expected, View())
    if norm == "pre":
        expected = encoder.final_norm(expected)
    assert_close(encoder(x, View()), expected)
    assert (encoder.final_norm is None) == (norm == "post")


def test_a_probe_sees_every_layer_under_its_name(make_config, shake, random):
    probe = Probe()
    shake(Encoder(make_config(), 3))(random(2, 5, 12), View(probe=probe))
    assert list(probe.weights) == ["encoder.0.self", "encoder.1.self", "encoder.2.self"]


def test_dropout_is_on_in_training_alone(make_config, shake, random):
    layer = shake(EncoderLayer(make_config(dropout=0.5, feed_forward_dropout=0.0), name="e"))
    x = random(2, 5, 12)
    expected = layer(x, View())
    torch.manual_seed(1)
    assert not torch.allclose(layer.train()(x, View()), expected)
    assert torch.equal(layer.eval()(x, View()), expected)


def test_without_positions_the_order_of_tokens_means_nothing(make_config, shake, random):
    encoder = shake(Encoder(make_config(), 2))
    x, order = random(2, 5, 12), torch.tensor([3, 1, 4, 0, 2])
    assert_close(encoder(x[:, order], View()), encoder(x, View())[:, order])
