"""The NumPy step of one row, against the step of PyTorch and the whole forward pass."""

from functools import partial

import pytest
import torch
from torch.testing import assert_close as assert_near

from dragoman.model.int8 import quantize
from dragoman.model.one_row import WIDEST
from dragoman.model.transformer import Transformer

assert_close = partial(assert_near, rtol=0, atol=1e-10)
SOURCE = torch.tensor([[5, 6, 7, 2]])
SAID = [1, 8, 9, 8, 12]


@pytest.fixture(autouse=True)
def inference():
    with torch.inference_mode():
        yield


@pytest.fixture
def make_model(make_config, shake):
    """A function: a small model in float64, made outside of inference mode like any other."""

    def model(**options):
        with torch.inference_mode(False):
            return shake(Transformer(make_config(**options)))

    return model


def logits_of_steps(model, ids=SAID, *, capacity=6):
    """The logits after each token, and whether NumPy made them: (T, V)."""
    cache = model.start(SOURCE, n_beams=1, capacity=capacity)
    by_numpy = cache.one_row_step is not None
    return torch.cat([model.step(torch.tensor([token]), cache) for token in ids]), by_numpy


def test_a_step_gives_the_numbers_of_the_forward_pass(any_config, shake):
    config, model = any_config, shake(Transformer(any_config))
    found, by_numpy = logits_of_steps(model)
    assert_close(found, model(SOURCE, torch.tensor([SAID]))[0])
    assert by_numpy == (
        config.activation == "relu" and config.positions != "rotary" and config.window is None
    )


def test_a_step_gives_the_numbers_of_pytorchs_step(make_model, monkeypatch):
    model = make_model(norm="pre")
    found, by_numpy = logits_of_steps(model)
    monkeypatch.setattr(Transformer, "knows_one_row", False)
    expected, still = logits_of_steps(model)
    assert (by_numpy, still) == (True, False)
    assert_close(found, expected)


def test_float32_stays_float32(make_model):
    found, by_numpy = logits_of_steps(make_model().float())
    assert by_numpy
    assert found.dtype == torch.float32


def test_new_weights_are_seen_by_the_next_sentence(make_model):
    model = make_model()
    before, _ = logits_of_steps(model)
    with torch.inference_mode(False):
        model.decoder.layers[0].feed_forward.w1.weight.data.mul_(2)
    after, _ = logits_of_steps(model)
    assert_close(after, model(SOURCE, torch.tensor([SAID]))[0])
    assert not torch.allclose(before, after)


@pytest.mark.parametrize(
    ("n_sentences", "n_beams"), [(1, 2), (2, 1)], ids=["two beams", "two sentences"]
)
def test_more_rows_are_left_to_pytorch(make_model, n_sentences, n_beams):
    cache = make_model().start(SOURCE.repeat(n_sentences, 1), n_beams=n_beams, capacity=3)
    assert cache.one_row_step is None


def test_wide_models_training_and_int8_are_left_to_pytorch(make_model, make_config):
    wide = Transformer(make_config(d_model=WIDEST + 2, n_heads=2)).eval()
    assert wide.start(SOURCE, n_beams=1, capacity=3).one_row_step is None
    with torch.inference_mode(False):
        assert make_model().start(SOURCE, n_beams=1, capacity=3).one_row_step is None
    whole = quantize(make_model().float())
    assert whole.start(SOURCE, n_beams=1, capacity=3).one_row_step is None


def test_a_full_cache_says_so(make_model):
    with pytest.raises(IndexError, match="room for 3 positions"):
        logits_of_steps(make_model(), capacity=3)


def test_learned_positions_that_may_end_are_left_to_pytorch(make_model):
    model = make_model(positions="learned", max_positions=9)
    assert model.start(SOURCE, n_beams=1, capacity=9).one_row_step is not None
    assert model.start(SOURCE, n_beams=1, capacity=10).one_row_step is None


def test_a_cache_that_was_changed_goes_on_with_pytorch(make_model):
    model = make_model()
    cache = model.start(SOURCE, n_beams=1, capacity=6)
    model.step(torch.tensor([1]), cache)
    cache.keep(torch.tensor([0]))
    assert cache.one_row_step is None
    rest = [model.step(torch.tensor([token]), cache) for token in SAID[1:]]
    assert_close(torch.cat(rest), model(SOURCE, torch.tensor([SAID]))[0, 1:])
