"""All layers of a step in one call, against the step layer by layer and the whole forward pass."""

from functools import partial

import pytest
import torch
from torch.testing import assert_close as assert_near

from dragoman.model.int8 import quantize
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
    """The logits after each token, (T, V), and whether they were made in one call each."""
    cache = model.start(SOURCE, n_beams=1, capacity=capacity)
    in_one_call = cache.whole_step is not None
    return torch.cat([model.step(torch.tensor([token]), cache) for token in ids]), in_one_call


def test_a_step_gives_the_numbers_of_the_forward_pass(any_config, shake):
    config, model = any_config, shake(Transformer(any_config))
    found, in_one_call = logits_of_steps(model)
    assert_close(found, model(SOURCE, torch.tensor([SAID]))[0])
    d_k, d_v = config.head_sizes
    is_known = config.window is None and d_k == d_v
    assert in_one_call == is_known


def test_a_step_gives_the_numbers_of_the_step_layer_by_layer(make_model, monkeypatch):
    model = make_model(norm="pre")
    found, in_one_call = logits_of_steps(model)
    monkeypatch.setattr(Transformer, "in_one_call", False)
    expected, still = logits_of_steps(model)
    assert (in_one_call, still) == (True, False)
    assert_close(found, expected)


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_float32_stays_float32(make_model, positions):
    found, in_one_call = logits_of_steps(make_model(positions=positions).float())
    assert in_one_call
    assert found.dtype == torch.float32


def test_new_weights_are_seen_by_the_next_sentence(make_model):
    model = make_model()
    before, _ = logits_of_steps(model)
    with torch.inference_mode(False):
        model.decoder.layers[0].feed_forward.w1.weight.data.mul_(2)
    after, _ = logits_of_steps(model)
    assert_close(after, model(SOURCE, torch.tensor([SAID]))[0])
    assert not torch.allclose(before, after)


@pytest.mark.parametrize("n_beams", [1, 3])
def test_beams_and_padding_are_as_layer_by_layer(any_config, shake, make_ids, monkeypatch, n_beams):
    """Sentences of several lengths; beams change places, one sentence leaves."""
    model = shake(Transformer(any_config))
    src_ids = make_ids(5, 2, 4)
    ids = make_ids(9, seed=3)[0]

    def logits():
        cache = model.start(src_ids, n_beams=n_beams, capacity=4)
        found = [model.step(ids[: 3 * n_beams], cache)]
        cache.reorder(torch.arange(3 * n_beams).view(3, n_beams).flip(1).flatten())
        found.append(model.step(ids[: 3 * n_beams], cache))
        cache.keep(torch.tensor([2, 0]))
        found.append(model.step(ids[: 2 * n_beams], cache))
        return torch.cat(found)

    in_one_call = logits()
    monkeypatch.setattr(Transformer, "in_one_call", False)
    assert_close(in_one_call, logits())


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
@pytest.mark.parametrize(("n_beams", "capacity"), [(1, 20), (1, 18), (3, 20), (3, 7)])
def test_many_positions_and_short_sources(
    make_model, make_ids, monkeypatch, n_beams, capacity, positions
):
    """From fewer entries than a fast softmax wants to more; the cache may end between the two."""
    model = make_model(positions=positions)
    src_ids, ids = make_ids(3, 1, 19), make_ids(capacity * n_beams * 3, seed=3)[0]

    def logits():
        cache = model.start(src_ids, n_beams=n_beams, capacity=capacity)
        found = []
        for part in ids.split(3 * n_beams):
            found.append(model.step(part, cache))
            cache.reorder(torch.arange(3 * n_beams).view(3, n_beams).roll(1, 1).flatten())
        return torch.cat(found)

    in_one_call = logits()
    monkeypatch.setattr(Transformer, "in_one_call", False)
    assert_close(in_one_call, logits())


@pytest.mark.parametrize("options", [{"norm": "pre"}, {"norm": "post"}, {"positions": "rotary"}])
@pytest.mark.parametrize("lengths", [(3, 1, 5), (16,), (17, 2), (48, 30), (49,)])
def test_the_memory_is_read_as_layer_by_layer(make_model, make_ids, monkeypatch, lengths, options):
    """From fewer tokens than a fast softmax wants to more than batched products are good for."""
    model, src_ids = make_model(**options), make_ids(*lengths)

    def memories():
        cache = model.start(src_ids, n_beams=1, capacity=5)
        n = src_ids.size(1)
        return [(x.memory_keys[:, :, :n], x.memory_values[:, :, :n]) for x in cache.layers]

    found = memories()
    monkeypatch.setattr(Transformer, "in_one_call", False)
    real = (src_ids != 0)[:, None, :, None]
    for ours, theirs in zip(found, memories(), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert_close(one * real, other * real)


def test_what_is_not_known_goes_layer_by_layer(make_model, monkeypatch):
    with torch.inference_mode(False):
        assert make_model().start(SOURCE, n_beams=1, capacity=3).whole_step is None
    monkeypatch.setattr("dragoman.model.int8.NARROW", 1)
    whole = quantize(make_model().float())  # its layers too
    assert whole.start(SOURCE, n_beams=1, capacity=3).whole_step is None
    nothing = torch.zeros(1, 4, dtype=torch.long)  # padding alone
    assert make_model().start(nothing, n_beams=1, capacity=3).whole_step is None
    monkeypatch.setattr("dragoman.model.whole_step._scripted", lambda: None)
    assert make_model().start(SOURCE, n_beams=1, capacity=3).whole_step is None


def test_a_full_cache_says_so(make_model):
    with pytest.raises(IndexError, match="room for 3 positions"):
        logits_of_steps(make_model(), capacity=3)


def test_learned_positions_that_may_end_are_asked_step_by_step(make_model):
    model = make_model(positions="learned", max_positions=9)
    assert model.start(SOURCE, n_beams=1, capacity=9).whole_step is not None
    assert model.start(SOURCE, n_beams=1, capacity=10).whole_step is None
