import math

import pytest
import torch
from torch.testing import assert_close

from dragoman.model.embeddings import Embedding, embed, make_positions
from dragoman.model.packing import Packing
from dragoman.model.positional_encoding import (
    LearnedPositions,
    SinusoidalPositions,
    sinusoidal_encoding,
)


@pytest.fixture
def embedding(shake):
    return shake(Embedding(13, 12, pad_id=0))


def test_vectors_are_rows_scaled_by_the_root_of_the_width(embedding):
    ids = torch.tensor([[5, 7, 5]])
    expected = embedding.weight[[5, 7, 5]] * math.sqrt(12)
    assert_close(embedding(ids)[0], expected, rtol=0, atol=1e-14)


def test_the_row_of_padding_gets_no_gradient(embedding):
    embedding(torch.tensor([[5, 0, 5]])).sum().backward()
    expected = torch.zeros(13, 12, dtype=torch.float64)
    expected[5] = 2 * math.sqrt(12)
    assert_close(embedding.weight.grad, expected)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("sinusoidal", SinusoidalPositions), ("learned", LearnedPositions), ("rotary", type(None))],
)
def test_the_config_chooses_what_is_added(make_config, kind, expected):
    assert type(make_positions(make_config(positions=kind))) is expected


def test_the_position_is_added_after_the_scaling(embedding):
    ids = torch.tensor([[5, 7], [8, 9]])
    x = embed(ids, embedding, positions=SinusoidalPositions(12))
    assert_close(x, embedding(ids) + sinusoidal_encoding(2, 12), rtol=0, atol=1e-14)


def test_without_positions_nothing_is_added(embedding):
    ids = torch.tensor([[5, 7]])
    assert torch.equal(embed(ids, embedding, positions=None), embedding(ids))


def test_packed_tokens_keep_the_position_in_their_sentence(embedding, make_ids):
    ids = make_ids(5, 1, 3)
    packing = Packing.of(ids, 0)
    positions = SinusoidalPositions(12)
    packed = embed(ids, embedding, positions=positions, packing=packing)
    assert torch.equal(packed, packing.pack(embed(ids, embedding, positions=positions)))


def test_a_later_first_position_continues_the_table(embedding, make_ids):
    ids = make_ids(5, 5)
    positions = SinusoidalPositions(12)
    tail = embed(ids[:, 3:], embedding, positions=positions, first=3)
    assert torch.equal(tail, embed(ids, embedding, positions=positions)[:, 3:])


def test_dropout_falls_on_the_sum(embedding):
    torch.manual_seed(1)
    ids = torch.tensor([[5, 7, 8]])
    positions = SinusoidalPositions(12)
    x = embed(ids, embedding, positions=positions, dropout_p=0.5)
    kept = x != 0
    assert 0 < int(kept.sum()) < 36
    assert_close(x[kept], 2 * embed(ids, embedding, positions=positions)[kept])


def test_an_embedding_is_made_on_the_default_device():
    with torch.device("meta"):
        assert Embedding(13, 12, pad_id=0).weight.device.type == "meta"
