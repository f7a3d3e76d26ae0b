"""Forced decoding: every hypothesis has all its tokens, whatever the weights would like."""

import pytest
import torch

from dragoman.bench.ours import Dragoman
from dragoman.config import ModelConfig
from dragoman.tokenize.vocabulary import EOS_ID

SHAPE = ModelConfig(d_model=12, n_heads=3, n_layers=1, d_ff=11, vocab_size=13)
SOURCES = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])


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
