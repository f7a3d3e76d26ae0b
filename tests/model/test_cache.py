from functools import partial

import pytest
import torch
from torch.testing import assert_close as assert_near

from dragoman.model.attention import View
from dragoman.model.cache import DecoderCache, LayerCache
from dragoman.model.transformer import Transformer

assert_close = partial(assert_near, rtol=0, atol=1e-10)


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


def numbered_cache(n_sentences=2, n_beams=3, length=2, capacity=4):
    """A cache of one layer whose every entry is the number of its sentence, and sees itself."""
    sentences = torch.arange(float(n_sentences)).view(-1, 1, 1, 1)
    layer = LayerCache(
        keys=sentences.expand(-1, 3, capacity * n_beams, 4).clone(),
        values=sentences.expand(-1, 3, capacity * n_beams, 5).clone(),
        memory_keys=sentences.expand(-1, 3, 7, 4).clone(),
        memory_values=sentences.expand(-1, 3, 7, 5).clone(),
    )
    mask = (sentences == 0).expand(-1, 1, 1, 7)
    cache = DecoderCache([layer], View(mask=mask), n_beams)
    for _ in range(length):
        cache.open_position()
        cache.length += 1
    return cache


def seen(cache, row):
    """The entries that a row looks at."""
    return (cache.ancestors.flatten(0, 2)[row] == 0).nonzero().flatten().tolist()


def test_append_writes_one_position_of_all_beams_and_gives_all_up_to_it():
    layer = numbered_cache().layers[0]
    keys, values = layer.append(torch.full((2, 3, 3, 4), 9.0), torch.full((2, 3, 3, 5), 9.0), 2)
    assert keys.shape == (2, 3, 9, 4)
    assert values.shape == (2, 3, 9, 5)
    assert keys[1, 2, :, 0].tolist() == [1, 1, 1, 1, 1, 1, 9, 9, 9]
    assert values[1, 2, :, 4].tolist() == [1, 1, 1, 1, 1, 1, 9, 9, 9]
    assert layer.keys[1, 2, 9:, 0].tolist() == [1, 1, 1]


def test_capacity_is_the_number_of_positions_that_fit():
    assert numbered_cache(capacity=4).capacity == 4


def test_each_beam_sees_its_own_entry_of_every_position():
    assert seen(numbered_cache(), 4) == [1, 4]


def test_reorder_gives_beams_other_ancestors_and_moves_nothing():
    cache = numbered_cache()
    before = cache.layers[0].keys.clone()
    cache.reorder(torch.tensor([1, 1, 0, 5, 3, 4]))
    assert [seen(cache, row) for row in range(6)] == [
        [1, 4],
        [1, 4],
        [0, 3],
        [2, 5],
        [0, 3],
        [1, 4],
    ]
    cache.open_position()
    assert seen(cache, 1) == [1, 4, 7]
    assert torch.equal(cache.layers[0].keys, before)


def test_one_beam_needs_no_ancestors():
    cache = numbered_cache(n_beams=1)
    cache.reorder(torch.tensor([0, 1]))
    assert cache.ancestors is None


def test_keep_leaves_whole_sentences_with_their_beams_and_memory():
    cache = numbered_cache(n_sentences=3)
    cache.reorder(torch.tensor([0, 1, 2, 3, 4, 5, 8, 7, 6]))
    cache.keep(torch.tensor([2, 0]))
    layer = cache.layers[0]
    assert layer.keys[:, 1, :6, 0].tolist() == [[2] * 6, [0] * 6]
    assert layer.values[:, 1, :6, 0].tolist() == [[2] * 6, [0] * 6]
    assert layer.memory_keys[:, 0, 0, 0].tolist() == [2, 0]
    assert layer.memory_values[:, 0, 0, 0].tolist() == [2, 0]
    assert cache.memory_view.mask[:, 0, 0, 0].tolist() == [False, True]
    assert seen(cache, 0) == [2, 5]
    assert seen(cache, 3) == [0, 3]


def test_keeping_no_sentence_leaves_an_empty_cache():
    cache = numbered_cache()
    cache.keep(torch.tensor([], dtype=torch.long))
    assert cache.layers[0].keys.size(0) == 0


def test_cross_attention_is_kept_once_a_sentence_and_not_once_a_beam(any_config, make_ids):
    model = Transformer(any_config).eval()
    d_k, d_v = any_config.head_sizes
    cache = model.start(make_ids(5, 3), n_beams=4, capacity=7)
    assert len(cache.layers) == any_config.decoder_layers
    for layer in cache.layers:
        assert layer.memory_keys.shape == (2, 3, 5, d_k)
        assert layer.memory_values.shape == (2, 3, 5, d_v)
        assert layer.keys.shape == (2, 3, 4 * 7, d_k)
        assert layer.values.shape == (2, 3, 4 * 7, d_v)


def test_a_batch_without_padding_needs_no_mask(make_config, make_ids):
    model = Transformer(make_config()).eval()
    assert model.start(make_ids(5, 5), n_beams=1, capacity=7).memory_view.mask is None
    assert model.start(make_ids(5, 3), n_beams=1, capacity=7).memory_view.mask.shape == (2, 1, 1, 5)


@pytest.mark.parametrize("n_beams", [1, 3])
@pytest.mark.parametrize("lengths", [(5, 5), (5, 2)], ids=["full", "padded"])
def test_decoding_step_by_step_equals_the_full_pass(any_config, make_ids, shake, n_beams, lengths):
    model = shake(Transformer(any_config))
    src_ids = make_ids(*lengths)
    tgt_ids = make_ids(*[7] * (2 * n_beams), seed=1)  # (R, T)
    expected = model(src_ids.repeat_interleave(n_beams, dim=0), tgt_ids)
    cache = model.start(src_ids, n_beams=n_beams, capacity=7)
    for t in range(7):
        assert cache.length == t
        assert_close(model.step(tgt_ids[:, t], cache), expected[:, t])


def test_hypotheses_that_change_places_and_sentences_that_leave_go_on_rightly(
    any_config, make_ids, shake
):
    model = shake(Transformer(any_config))
    src_ids = make_ids(5, 2, 4)
    drawn = make_ids(*[7] * 9, seed=1)
    beam_sources = torch.arange(3).repeat_interleave(3)
    cache = model.start(src_ids, n_beams=3, capacity=7)
    history = drawn[:, :0]
    moves = {
        2: torch.tensor([0, 0, 2, 5, 4, 3, 8, 8, 8]),  # a beam doubles, two swap, one wins
        5: torch.tensor([1, 2, 1, 3, 3, 4]),
    }
    for t in range(7):
        if t in moves:
            cache.reorder(moves[t])
            history = history[moves[t]]
        if t == 4:  # the middle sentence is finished; the others change places
            cache.keep(torch.tensor([2, 0]))
            rows = torch.tensor([6, 7, 8, 0, 1, 2])
            history, beam_sources = history[rows], beam_sources[rows]
        new = drawn[: len(history), t]
        history = torch.cat((history, new[:, None]), dim=1)
        expected = model(src_ids[beam_sources], history)[:, -1]
        assert_close(model.step(new, cache), expected)


def test_a_full_cache_refuses_another_step(make_config, make_ids):
    model = Transformer(make_config()).eval()
    cache = model.start(make_ids(5), n_beams=1, capacity=1)
    model.step(torch.tensor([1]), cache)
    with pytest.raises(IndexError):
        model.step(torch.tensor([1]), cache)
