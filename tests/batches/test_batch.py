"""Batches by hand arithmetic: EOS, shift right, padding and where it is."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.batches.batch import Batch, collate, make_batch, pad_sources
from dragoman.batches.store import Ragged
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

PIECES = st.lists(st.integers(4, 99), max_size=9)


def test_a_source_row_is_its_pieces_and_eos():
    batch = make_batch([([5, 6, 7], [8]), ([9], [10, 11])])
    assert batch.src_ids.tolist() == [[5, 6, 7, EOS_ID], [9, EOS_ID, PAD_ID, PAD_ID]]


def test_the_decoder_reads_the_target_shifted_right():
    batch = make_batch([([5], [8]), ([9], [10, 11])])
    assert batch.tgt_in.tolist() == [[BOS_ID, 8, PAD_ID], [BOS_ID, 10, 11]]
    assert batch.tgt_out.tolist() == [[8, EOS_ID, PAD_ID], [10, 11, EOS_ID]]


def test_tokens_are_counted_with_eos_and_without_padding():
    batch = make_batch([([5, 6, 7], [8]), ([9], [10, 11])])
    assert (batch.n_tokens, batch.n_src_tokens) == (2 + 3, 4 + 2)


def test_an_empty_source_is_eos_alone():
    batch = make_batch([([], [4])])
    assert batch.src_ids.tolist() == [[EOS_ID]]


def test_an_empty_target_is_bos_alone_and_asks_for_eos():
    batch = make_batch([([4], [])])
    assert (batch.tgt_in.tolist(), batch.tgt_out.tolist()) == ([[BOS_ID]], [[EOS_ID]])


def test_a_side_without_padding_has_no_index():
    batch = make_batch([([5, 6], [7]), ([8, 9], [10, 11])])
    assert batch.src_index is None
    assert batch.tgt_index is not None  # control: the other side has padding


def test_ids_and_indices_are_int64():
    batch = make_batch([([5], [7]), ([8, 9], [10, 11])])
    tensors = (batch.src_ids, batch.tgt_in, batch.tgt_out, batch.src_index, batch.tgt_index)
    assert {tensor.dtype for tensor in tensors} == {torch.int64}


def test_ids_of_the_store_s_own_type_are_widened():
    rows = Ragged(np.array([65_535, 7], np.uint16), np.array([1, 1]))
    assert collate(rows, rows, indices=np.array([0, 1])).src_ids.tolist() == [[65_535, 2], [7, 2]]


def test_moving_a_batch_keeps_every_tensor_and_what_is_absent():
    batch = make_batch([([5, 6], [7]), ([8, 9], [10, 11])])
    moved = batch.to("meta")
    assert moved.src_ids.device.type == moved.tgt_index.device.type == "meta"
    assert moved.src_index is None
    assert moved.n_tokens == batch.n_tokens


def test_pinning_keeps_the_values():
    batch = make_batch([([5, 6], [7])])
    assert batch.pin().src_ids.tolist() == batch.src_ids.tolist()


def test_the_length_of_a_batch_is_its_sentences():
    assert len(make_batch([([5, 6], [7])] * 3)) == 3


def test_sources_alone_are_padded_as_in_a_batch():
    rows = [[5, 6, 7], [], [9]]
    assert torch.equal(pad_sources(rows), make_batch([(row, [4]) for row in rows]).src_ids)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=7))
def test_a_batch_equals_one_filled_row_by_row(pairs: list[tuple[list[int], list[int]]]):
    batch = make_batch(pairs)
    expected = _filled_row_by_row(pairs)
    for name, tensor in expected.items():
        assert getattr(batch, name).tolist() == tensor, name


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=7))
def test_the_indices_name_the_real_positions(pairs: list[tuple[list[int], list[int]]]):
    batch = make_batch(pairs)
    for ids, index in ((batch.src_ids, batch.src_index), (batch.tgt_out, batch.tgt_index)):
        real = (ids != PAD_ID).flatten().nonzero().flatten()
        if index is None:
            assert len(real) == ids.numel()
        else:
            assert torch.equal(index, real)


def _filled_row_by_row(pairs: list[tuple[list[int], list[int]]]) -> dict[str, list[list[int]]]:
    s = max(len(src) for src, _ in pairs) + 1
    t = max(len(tgt) for _, tgt in pairs) + 1

    def pad(row: list[int], width: int) -> list[int]:
        return row + [PAD_ID] * (width - len(row))

    return {
        "src_ids": [pad([*src, EOS_ID], s) for src, _ in pairs],
        "tgt_in": [pad([BOS_ID, *tgt], t) for _, tgt in pairs],
        "tgt_out": [pad([*tgt, EOS_ID], t) for _, tgt in pairs],
    }


def test_a_batch_cannot_be_changed():
    batch: Batch = make_batch([([5], [6])])
    with pytest.raises(AttributeError):
        batch.n_tokens = 0


@given(st.lists(st.tuples(PIECES, PIECES), min_size=2, max_size=9))
def test_halves_hold_every_pair_once_without_empty_columns(pairs):
    halves = make_batch(pairs).halves()
    for first, half in enumerate(halves):
        expected = make_batch(pairs[first::2])
        assert half.indices.tolist() == list(range(first, len(pairs), 2))
        for name in ("src_ids", "tgt_in", "tgt_out", "src_index", "tgt_index"):
            found, wanted = getattr(half, name), getattr(expected, name)
            assert (found is None) == (wanted is None)
            assert found is None or torch.equal(found, wanted)
        assert (half.n_tokens, half.n_src_tokens) == (expected.n_tokens, expected.n_src_tokens)


def test_a_batch_of_one_pair_is_not_halved():
    batch = make_batch([([5], [6])])
    [half] = batch.halves()
    assert half is batch
