from functools import partial

import pytest
import torch
from torch.testing import assert_close as assert_near

from dragoman.model.attention import Probe, View
from dragoman.model.decoder import Decoder, DecoderLayer

assert_close = partial(assert_near, rtol=0, atol=1e-10)
CAUSAL = View(causal=True)


def test_a_post_norm_layer_is_the_papers_formula(make_config, shake, random):
    layer = shake(DecoderLayer(make_config(), name="decoder.0"))
    x, memory = random(2, 7, 12), random(2, 5, 12, seed=1)
    y = layer.self_attention_norm(x + layer.self_attention(x, None, CAUSAL))
    z = layer.cross_attention_norm(y + layer.cross_attention(y, memory, View()))
    expected = layer.feed_forward_norm(z + layer.feed_forward(z))
    assert_close(layer(x, memory, CAUSAL, View()), expected)


def test_a_pre_norm_layer_normalizes_its_own_states_and_not_the_memory(make_config, shake, random):
    layer = shake(DecoderLayer(make_config(norm="pre"), name="decoder.0"))
    x, memory = random(2, 7, 12), random(2, 5, 12, seed=1)
    y = x + layer.self_attention(layer.self_attention_norm(x), None, CAUSAL)
    z = y + layer.cross_attention(layer.cross_attention_norm(y), memory, View())
    expected = z + layer.feed_forward(layer.feed_forward_norm(z))
    assert_close(layer(x, memory, CAUSAL, View()), expected)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_stack_runs_its_layers_in_turn_and_closes_pre_norm_with_a_norm(
    make_config, shake, random, norm
):
    decoder = shake(Decoder(make_config(norm=norm), 3))
    x = expected = random(2, 7, 12)
    memory = random(2, 5, 12, seed=1)
    for layer in decoder.layers:
        expected = layer(expected, memory, CAUSAL, View())
    if norm == "pre":
        expected = decoder.final_norm(expected)
    assert_close(decoder(x, memory, CAUSAL, View()), expected)
    assert (decoder.final_norm is None) == (norm == "post")


def test_a_probe_sees_both_attentions_of_every_layer(make_config, shake, random):
    probe = Probe()
    decoder = shake(Decoder(make_config(), 2))
    own, cross = View(causal=True, probe=probe), View(probe=probe)
    decoder(random(2, 7, 12), random(2, 5, 12), own, cross)
    shapes = {name: tuple(weights.shape) for name, weights in probe.weights.items()}
    assert shapes == {
        "decoder.0.self": (2, 3, 7, 7),
        "decoder.0.cross": (2, 3, 7, 5),
        "decoder.1.self": (2, 3, 7, 7),
        "decoder.1.cross": (2, 3, 7, 5),
    }


def test_a_layer_without_cross_attention_has_no_weights_for_it(make_config, shake, random):
    layer = shake(DecoderLayer(make_config(), name="decoder.0", cross=False))
    assert not [name for name in layer.state_dict() if "cross" in name]
    assert layer(random(2, 7, 12), None, CAUSAL, View()).shape == (2, 7, 12)


def test_dropout_is_on_in_training_alone(make_config, shake, random):
    layer = shake(DecoderLayer(make_config(dropout=0.5, feed_forward_dropout=0.0), name="d"))
    x, memory = random(2, 7, 12), random(2, 5, 12)
    expected = layer(x, memory, CAUSAL, View())
    torch.manual_seed(1)
    assert not torch.allclose(layer.train()(x, memory, CAUSAL, View()), expected)
    assert torch.equal(layer.eval()(x, memory, CAUSAL, View()), expected)


def test_a_step_without_memory_in_the_cache_is_refused(make_config, shake, random):
    decoder = shake(Decoder(make_config(), 1))
    cache = decoder.start(None, None, n_sentences=2, n_beams=1, capacity=3)
    with pytest.raises(ValueError, match="no memory"):
        decoder.step(random(2, 12), cache, View())
