"""Forced decoding: every hypothesis has all its tokens, whatever the weights would like."""

import pytest
import torch

from dragoman.bench.ours import Dragoman, Forced
from dragoman.config import ModelConfig
from dragoman.decoding.beam_search import beam_search
from dragoman.decoding.greedy import greedy_search
from dragoman.model.transformer import Transformer
from dragoman.tokenize.vocabulary import EOS_ID

SHAPE = ModelConfig(d_model=12, n_heads=3, n_layers=1, d_ff=11, vocab_size=13)
SOURCES = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])


@pytest.fixture
def model():
    torch.manual_seed(1)
    return Transformer(SHAPE).eval()


@pytest.mark.parametrize("n_tokens", [1, 2, 15, 16, 17, 20, 50])
def test_every_sentence_gets_all_its_tokens(model, n_tokens):
    forced = Forced(model, model.config.vocab_size, n_tokens)
    options = {"max_extra": n_tokens, "max_len": n_tokens}
    assert [h.n_tokens for h in greedy_search(forced, SOURCES, **options)] == [n_tokens] * 2
    found = beam_search(forced, SOURCES, beam_size=3, **options)
    assert [h[0].n_tokens for h in found] == [n_tokens] * 2


def test_without_force_the_same_model_ends_before(model):
    found = greedy_search(model, SOURCES, max_extra=50, max_len=50)  # control
    assert min(h.n_tokens for h in found) < 50


def test_the_scores_of_what_was_said_are_finite(model):
    found = greedy_search(
        Forced(model, model.config.vocab_size, 20), SOURCES, max_extra=20, max_len=20
    )
    assert all(h.log_prob > -1e5 for h in found)


@pytest.mark.parametrize("peer", [Dragoman(), Dragoman("int8")], ids=lambda peer: peer.name)
@pytest.mark.parametrize("beam", [1, 4])
def test_the_contestant_decodes_what_is_asked_of_it(peer, beam):
    shape = ModelConfig(d_model=32, n_heads=2, n_layers=1, d_ff=32, vocab_size=40)
    torch.manual_seed(1)
    decode = peer.decoder(shape)
    found = decode([SOURCES, SOURCES[:1]], beam=beam, max_tokens=18, is_forced=True)
    assert [len(ids) for ids in found] == [18] * 3
    assert all(EOS_ID not in ids[:-1] for ids in found)


def test_in_int8_nobody_trains():
    assert Dragoman("int8").train_step(SHAPE, []) is None
